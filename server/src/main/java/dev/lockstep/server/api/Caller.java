package dev.lockstep.server.api;

import io.vertx.ext.web.RoutingContext;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;

/**
 * Where a request comes from, as seen through trusted proxies. Immutable.
 *
 * @param address the client's
 * @param secure whether a trusted proxy reports that the client uses HTTPS
 * @param host the host and port that the client asked for; empty if it named none
 * @param direct whether nothing indicates a proxy
 */
public record Caller(InetAddress address, boolean secure, Optional<String> host, boolean direct) {
  private static final String KEY = Caller.class.getName();
  private static final int NETWORK_BYTES = 8;

  /** The caller determined when the request began. */
  public static Caller of(RoutingContext context) {
    return Objects.requireNonNull(context.<Caller>get(KEY), "the caller has not been determined");
  }

  public void attachTo(RoutingContext context) {
    context.put(KEY, this);
  }

  /** The key that limits count by. */
  public String network() {
    return network(address);
  }

  /**
   * An IPv4 address, or the first 64 bits of an IPv6 address, which usually belong to one customer.
   */
  public static String network(InetAddress address) {
    if (!(address instanceof Inet6Address)) {
      return address.getHostAddress();
    }
    byte[] prefix = Arrays.copyOf(address.getAddress(), NETWORK_BYTES);
    try {
      return InetAddress.getByAddress(Arrays.copyOf(prefix, 2 * NETWORK_BYTES)).getHostAddress()
          + "/64";
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e); // 16 bytes are always a valid address.
    }
  }
}
