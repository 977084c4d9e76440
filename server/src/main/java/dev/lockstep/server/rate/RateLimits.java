package dev.lockstep.server.rate;

import java.util.Optional;

/**
 * How often each kind of caller may ask, on each node. An address means an IPv4 address or the
 * first 64 bits of an IPv6 address.
 *
 * @param buyer requests per buyer key; 10 per second, 20 at once
 * @param service requests per service key; default unlimited
 * @param operator requests per operator key; default unlimited
 * @param anonymous requests without a key, per address; 100 per second, 500 at once, because many
 *     people may share an address
 * @param unknownKeys requests with an unknown key, per address; 5 per second, 20 at once
 * @param visitors new visitors of the shop, per address; 5 per second, 50 at once
 * @param lab lab runs, per key, else per address; 10 per second, 100 at once, because the page of
 *     all scenarios plays that many
 */
public record RateLimits(
    Rate buyer,
    Optional<Rate> service,
    Optional<Rate> operator,
    Rate anonymous,
    Rate unknownKeys,
    Rate visitors,
    Rate lab) {
  public static final RateLimits DEFAULT =
      new RateLimits(
          new Rate(10, 20),
          Optional.empty(),
          Optional.empty(),
          new Rate(100, 500),
          new Rate(5, 20),
          new Rate(5, 50),
          new Rate(10, 100));

  public RateLimits {
    if (unknownKeys.perSecond() > anonymous.perSecond()) {
      throw new IllegalArgumentException(
          "unknownKeys must not allow more per second than anonymous: a wrong key would beat"
              + " none");
    }
  }

  public RateLimits withService(Rate limit) {
    return new RateLimits(
        buyer, Optional.of(limit), operator, anonymous, unknownKeys, visitors, lab);
  }

  public RateLimits withAnonymous(Rate limit) {
    return new RateLimits(buyer, service, operator, limit, unknownKeys, visitors, lab);
  }

  public RateLimits withUnknownKeys(Rate limit) {
    return new RateLimits(buyer, service, operator, anonymous, limit, visitors, lab);
  }

  public RateLimits withLab(Rate limit) {
    return new RateLimits(buyer, service, operator, anonymous, unknownKeys, visitors, limit);
  }
}
