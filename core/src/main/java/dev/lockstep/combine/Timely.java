package dev.lockstep.combine;

import dev.lockstep.tx.RoundTrip;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;

/**
 * Keeps a batch that was decided at a remembered time from being written at quite another.
 *
 * <p>A time that is carried on by the node's own clock (see {@link Reliance}) is right when the
 * batch is decided. But the node may be paused before it sends, the packet may be delayed, or the
 * batch may wait for a lock. So the database compares, when all locks are held: a batch whose time
 * is off by more than {@link #TOLERANCE} fails, and is decided again on what is read then.
 *
 * <p>It follows that an instant is closed once it is longer ago than the tolerance: whoever gets
 * the lock of a row after that writes a later time.
 */
public final class Timely {
  /** Longer than a batch takes from its decision to the server, unless something is wrong. */
  public static final Duration TOLERANCE = Duration.ofMillis(100);

  // Fails by a division by zero. It names no table, so that a distributed database answers it where
  // it is asked.
  private static final String REQUIRE = "SELECT 1 / (clock_timestamp() BETWEEN ? AND ?)::integer";

  private Timely() {}

  /** Adds the comparison. What locks the rows must come before it. */
  public static void require(RoundTrip trip, Instant decidedAt) {
    trip.query(
        REQUIRE,
        row -> true,
        decidedAt.minus(TOLERANCE).atOffset(ZoneOffset.UTC),
        decidedAt.plus(TOLERANCE).atOffset(ZoneOffset.UTC));
  }
}
