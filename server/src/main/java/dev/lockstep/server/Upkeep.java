package dev.lockstep.server;

import dev.lockstep.hold.Holds;
import dev.lockstep.job.Claims;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.once.Once;
import dev.lockstep.server.job.BackgroundJobs;
import dev.lockstep.server.key.Keys;
import java.time.Duration;

/** What the blocks themselves need done again and again, by one node for all. */
final class Upkeep {
  /** How long a hold that has expired may still be shown as held, when many expire. */
  private static final Duration SHORTEST_WAIT = Duration.ofMillis(250);

  /** The shortest hold there is: who looks that often knows of each before it expires. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

  private static final Duration CLAIM_INTERVAL = Duration.ofSeconds(5);

  private static final Duration MINUTE = Duration.ofMinutes(1);

  private Upkeep() {}

  static BackgroundJobs of(Holds holds, Ledger ledger, Once once, Keys keys, Claims claims) {
    return BackgroundJobs.none()
        .paced(SHORTEST_WAIT, "expired-holds", job -> takeBack(holds))
        // Only to show it: a transfer that needs the money ends what has expired itself.
        .every(LONGEST_WAIT, "expired-transfers", job -> ledger.sweep())
        // Only to show it: whoever claims from a queue counts what was not answered in it.
        .every(CLAIM_INTERVAL, "expired-claims", job -> claims.expire())
        // An expired key counts as none whether or not it is still there.
        .every(MINUTE, "old-idempotency-keys", job -> once.removeExpired())
        .every(MINUTE, "old-visitors", job -> keys.removeOldVisitors());
  }

  /** Wakes with the next expiry, so that stock that comes back shows at once. */
  private static Duration takeBack(Holds holds) {
    holds.sweep();
    Duration wait = holds.untilNextExpiry(LONGEST_WAIT).orElse(LONGEST_WAIT);
    return wait.compareTo(SHORTEST_WAIT) > 0 ? wait : SHORTEST_WAIT;
  }
}
