package dev.lockstep.server.key;

import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.rate.Allowance;
import dev.lockstep.server.rate.Rate;
import dev.lockstep.server.rate.RateLimits;
import dev.lockstep.server.rate.TokenBuckets;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * How often callers may ask: whoever has a key by that key, everybody else by the network they come
 * from. Thread-safe.
 */
final class CallerRates {
  private final Map<Role, TokenBuckets> byRole = new EnumMap<>(Role.class);
  private final TokenBuckets anonymous;
  private final TokenBuckets unknownKeys;
  private final TokenBuckets visitors;

  CallerRates(RateLimits limits, LongSupplier nanoTime) {
    limit(Role.BUYER, Optional.of(limits.buyer()), nanoTime);
    limit(Role.SERVICE, limits.service(), nanoTime);
    limit(Role.OPERATOR, limits.operator(), nanoTime);
    anonymous = new TokenBuckets("anonymous", limits.anonymous(), nanoTime);
    unknownKeys = new TokenBuckets("unknown-keys", limits.unknownKeys(), nanoTime);
    visitors = new TokenBuckets("visitors", limits.visitors(), nanoTime);
  }

  private void limit(Role role, Optional<Rate> rate, LongSupplier nanoTime) {
    String policy = role.name().toLowerCase(Locale.ROOT);
    rate.ifPresent(limit -> byRole.put(role, new TokenBuckets(policy, limit, nanoTime)));
  }

  /** Empty for a role without a limit. */
  Optional<Allowance> admit(Optional<Principal> principal, String network) {
    return principal.isEmpty()
        ? Optional.of(anonymous.take(network))
        : Optional.ofNullable(byRole.get(principal.get().role()))
            .map(buckets -> buckets.take(principal.get().keyId()));
  }

  /**
   * Before a key is looked up that is new here. Nothing is taken: at an opening, hundreds of buyers
   * may come from one address at once, each with a good key that nobody has used before.
   */
  void requireFewUnknown(String network) {
    require(unknownKeys.look(network), "Too many keys from one address were not known.");
  }

  void wasUnknown(String network) {
    unknownKeys.take(network);
  }

  void requireFewVisitors(String network) {
    require(visitors.take(network), "Too many visitors from one address.");
  }

  private static void require(Allowance allowance, String otherwise) {
    if (!allowance.granted()) {
      throw Problem.rateLimited(allowance, otherwise).asException();
    }
  }
}
