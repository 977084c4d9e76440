package dev.lockstep.server.edge;

import dev.lockstep.server.api.Caller;
import dev.lockstep.server.api.Problem;
import io.vertx.ext.web.RoutingContext;
import java.util.Set;

/**
 * Refuses requests for hosts that this server does not answer to, where they are named. Probes are
 * answered under any name: they come to an address. Thread-safe.
 */
public final class AllowedHosts {
  private static final Set<String> PROBES = Set.of("/healthz", "/readyz");

  private final Set<String> hosts;

  public AllowedHosts(Trust trust) {
    this.hosts = trust.hosts();
  }

  /** A handler before those that serve. */
  public void check(RoutingContext context) {
    if (hosts.isEmpty() || PROBES.contains(context.request().path()) || ours(context)) {
      context.next();
      return;
    }
    Problem.of(
            "misdirected-request",
            421,
            "Misdirected request",
            "This server does not answer to that host.")
        .send(context.response());
  }

  private boolean ours(RoutingContext context) {
    return Caller.of(context)
        .host()
        .filter(
            host ->
                hosts.contains(HostName.of(host))
                    || (HostName.loopback(host) && onLoopback(context)))
        .isPresent();
  }

  private static boolean onLoopback(RoutingContext context) {
    String local = context.request().localAddress().hostAddress();
    return AddressRange.address(local == null ? "" : local)
        .filter(address -> address.isLoopbackAddress())
        .isPresent();
  }
}
