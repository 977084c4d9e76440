package dev.lockstep.server;

import dev.lockstep.hold.Holds;
import dev.lockstep.job.Claims;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.once.Once;
import dev.lockstep.server.job.BackgroundJobs;
import dev.lockstep.server.key.Keys;
import java.time.Duration;

/** Recurring tasks of core's blocks, run by one node for all. */
final class Upkeep {
  /** How long an expired hold may still show as held when many expire. */
  private static final Duration SHORTEST_WAIT = Duration.ofMillis(250);

  /** Holds last at least this long, so looking this often finds each one before it expires. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

  private static final Duration CLAIM_INTERVAL = Duration.ofSeconds(5);

  private static final Duration MINUTE = Duration.ofMinutes(1);

  private Upkeep() {}

  static BackgroundJobs of(Holds holds, Ledger ledger, Once once, Keys keys, Claims claims) {
    return BackgroundJobs.none()
        .paced(SHORTEST_WAIT, "expired-holds", job -> takeBack(holds))
        // Only for display: a transfer that needs the money expires old reservations itself.
        .every(LONGEST_WAIT, "expired-transfers", job -> ledger.sweep())
        // Only for display: claiming from a queue counts expired claims itself.
        .every(CLAIM_INTERVAL, "expired-claims", job -> claims.expire())
        // An expired key counts as gone, whether or not its row is still there.
        .every(MINUTE, "old-idempotency-keys", job -> once.removeExpired())
        .every(MINUTE, "old-visitors", job -> keys.removeOldVisitors());
  }

  /** Wakes at the next expiry, so that freed stock shows at once. */
  private static Duration takeBack(Holds holds) {
    holds.sweep();
    Duration wait = holds.untilNextExpiry(LONGEST_WAIT).orElse(LONGEST_WAIT);
    return wait.compareTo(SHORTEST_WAIT) > 0 ? wait : SHORTEST_WAIT;
  }
}
