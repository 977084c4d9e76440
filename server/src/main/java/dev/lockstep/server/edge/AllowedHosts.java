package dev.lockstep.server.edge;

import dev.lockstep.server.api.Caller;
import dev.lockstep.server.api.Problem;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Refuses requests for hosts that this server does not serve, if the configuration names any.
 * Health probes pass under any name, because they address the machine. Thread-safe.
 */
public final class AllowedHosts {
  private static final Set<String> PROBES = Set.of("/healthz", "/readyz");

  private final Set<String> hosts;

  public AllowedHosts(Trust trust) {
    this.hosts = trust.hosts();
  }

  /** A handler that runs before those that serve. */
  public void check(RoutingContext context) {
    if (allows(context.request(), Caller.of(context))) {
      context.next();
    } else {
      refuse(context.request());
    }
  }

  public boolean allows(HttpServerRequest request, Caller caller) {
    String local = request.localAddress().hostAddress();
    return hosts.isEmpty()
        || PROBES.contains(request.path())
        || caller.host().filter(host -> ours(host, local)).isPresent();
  }

  public void refuse(HttpServerRequest request) {
    Problem.of(
            "misdirected-request",
            421,
            "Misdirected request",
            "This server does not serve that host.")
        .send(request.response());
  }

  /**
   * @param local the local address of the connection
   */
  boolean ours(String host, @Nullable String local) {
    return hosts.contains(HostName.of(host)) || (HostName.loopback(host) && onLoopback(local));
  }

  private static boolean onLoopback(@Nullable String local) {
    return AddressRange.address(local == null ? "" : local)
        .filter(address -> address.isLoopbackAddress())
        .isPresent();
  }
}
