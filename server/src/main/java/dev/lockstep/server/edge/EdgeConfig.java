package dev.lockstep.server.edge;

import dev.lockstep.server.rate.RateLimits;

/**
 * The settings of the edge that depend on the machine, network or business.
 *
 * @param limits connections, timeouts and sizes
 * @param rates how often callers may ask
 * @param trust which proxies, hosts and observers are trusted
 */
public record EdgeConfig(HttpLimits limits, RateLimits rates, Trust trust) {
  public static final EdgeConfig DEFAULT =
      new EdgeConfig(HttpLimits.DEFAULT, RateLimits.DEFAULT, Trust.DEFAULT);

  public EdgeConfig withLimits(HttpLimits other) {
    return new EdgeConfig(other, rates, trust);
  }

  public EdgeConfig withRates(RateLimits other) {
    return new EdgeConfig(limits, other, trust);
  }

  public EdgeConfig withTrust(Trust other) {
    return new EdgeConfig(limits, rates, other);
  }
}
