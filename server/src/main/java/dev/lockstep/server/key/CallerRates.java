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

/** The rates of callers: by key for those that have one, else by network. Thread-safe. */
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

  /**
   * Empty for a role without a limit. A visitor counts by key and by network: one client can become
   * many visitors.
   */
  Optional<Allowance> admit(Optional<Principal> principal, String network) {
    if (principal.isEmpty()) {
      return Optional.of(anonymous.take(network));
    }
    Principal caller = principal.get();
    if (caller.visitor()) {
      Allowance shared = anonymous.take(network);
      if (!shared.granted()) {
        return Optional.of(shared);
      }
    }
    return Optional.ofNullable(byRole.get(caller.role()))
        .map(buckets -> buckets.take(caller.keyId()));
  }

  /** Looks up a key that is new here, if its network may still try an unknown one. */
  Future<Optional<Principal>> lookUp(String network, Supplier<Future<Optional<Principal>>> lookUp) {
    return lookUps.run(network, lookUp);
  }

  /** Counts a key that is already known to be unknown. */
  void requireFewUnknown(String network) {
    require(unknownKeys.take(network), "Too many unknown keys came from this address.");
  }

  /** Counts a formerly good key that has ended; such a key is looked up whatever the rate. */
  void wasUnknown(String network) {
    unknownKeys.take(network);
  }

  void requireFewVisitors(String network) {
    require(visitors.take(network), "Too many new visitors came from this address.");
  }

  private static void require(Allowance allowance, String otherwise) {
    if (!allowance.granted()) {
      throw Problem.rateLimited(allowance, otherwise).asException();
    }
  }
}
