package dev.lockstep.server.edge;

import dev.lockstep.server.rate.RateLimits;

/**
 * Everything about the server's edge that depends on a machine, a network or a business.
 *
 * @param limits connections, time-outs and sizes
 * @param rates how often somebody may ask
 * @param trust whose word is taken, and for what
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
