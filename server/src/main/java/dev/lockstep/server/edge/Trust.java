package dev.lockstep.server.edge;

import dev.lockstep.server.key.Secret;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Whose word is taken, and for what.
 *
 * @param proxies whose word is taken for whom they speak for; nobody's unless told
 * @param header where they say it; another family of headers is the client's own
 * @param hosts the names this server answers to, without ports; empty, as it is unless told: any
 * @param openTo who sees {@code /metrics} and the details of {@code /status} without a key;
 *     programs on this machine unless told
 * @param metricsToken a bearer token that may read {@code /metrics} and nothing else; none unless
 *     told
 */
public record Trust(
    List<AddressRange> proxies,
    ProxyHeader header,
    Set<String> hosts,
    OpenTo openTo,
    Optional<Secret> metricsToken) {
  public static final Trust DEFAULT =
      new Trust(List.of(), ProxyHeader.EITHER, Set.of(), OpenTo.LOOPBACK, Optional.empty());

  public Trust {
    proxies = List.copyOf(proxies);
    hosts = hosts.stream().map(host -> host.toLowerCase(Locale.ROOT)).collect(Collectors.toSet());
    hosts.stream()
        .filter(host -> !HostName.wellFormed(host) || !HostName.of(host).equals(host))
        .findFirst()
        .ifPresent(
            host -> {
              throw new IllegalArgumentException("'" + host + "' is no name of a host");
            });
    hosts = Set.copyOf(hosts);
  }

  public Trust withProxies(String... ranges) {
    List<AddressRange> parsed = List.of(ranges).stream().map(AddressRange::of).toList();
    return new Trust(parsed, header, hosts, openTo, metricsToken);
  }

  public Trust withHeader(ProxyHeader written) {
    return new Trust(proxies, written, hosts, openTo, metricsToken);
  }

  public Trust withHosts(String... names) {
    return new Trust(proxies, header, Set.of(names), openTo, metricsToken);
  }

  public Trust withOpenTo(OpenTo readers) {
    return new Trust(proxies, header, hosts, readers, metricsToken);
  }

  public Trust withMetricsToken(Secret token) {
    return new Trust(proxies, header, hosts, openTo, Optional.of(token));
  }

  boolean isProxy(InetAddress address) {
    return proxies.stream().anyMatch(range -> range.contains(address));
  }
}
