package dev.lockstep.server.key;

import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.rate.Allowance;
import dev.lockstep.server.rate.Rate;
import dev.lockstep.server.rate.RateLimits;
import dev.lockstep.server.rate.TokenBuckets;
import io.vertx.core.Future;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * How often callers may ask: whoever has a key by that key, everybody else by the network they come
 * from. Thread-safe.
 */
final class CallerRates {
  private final Map<Role, TokenBuckets> byRole = new EnumMap<>(Role.class);
  private final TokenBuckets anonymous;
  private final TokenBuckets unknownKeys;
  private final TokenBuckets visitors;
  private final LookUps lookUps;

  CallerRates(RateLimits limits, LongSupplier nanoTime) {
    limit(Role.BUYER, Optional.of(limits.buyer()), nanoTime);
    limit(Role.SERVICE, limits.service(), nanoTime);
    limit(Role.OPERATOR, limits.operator(), nanoTime);
    anonymous = new TokenBuckets("anonymous", limits.anonymous(), nanoTime);
    unknownKeys = new TokenBuckets("unknown-keys", limits.unknownKeys(), nanoTime);
    lookUps = new LookUps(unknownKeys);
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

  /** Looks up a key that is new here, when its network may have one more that is unknown. */
  Future<Optional<Principal>> lookUp(String network, Supplier<Future<Optional<Principal>>> lookUp) {
    return lookUps.run(network, lookUp);
  }

  /** For a key of which it is known, without a look-up, that nobody has it. */
  void requireFewUnknown(String network) {
    require(unknownKeys.take(network), "Too many keys from one address were not known.");
  }

  /** A key that was good is looked up whatever others do; that it ended counts all the same. */
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
