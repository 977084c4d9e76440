package dev.lockstep.server.edge;

import dev.lockstep.server.key.Secret;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Whom the server trusts, and with what.
 *
 * @param proxies trusted to name the client they speak for; default none
 * @param header the header family that they write; the other one is the client's own
 * @param hosts the names that this server serves, without ports; empty means any, the default
 * @param openTo who sees {@code /metrics} and the details of {@code /status} without a key; default
 *     programs on this machine
 * @param metricsToken a bearer token that may read {@code /metrics} and nothing else; default none
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
              throw new IllegalArgumentException("'" + host + "' is not a host name");
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
