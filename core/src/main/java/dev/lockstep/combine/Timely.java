package dev.lockstep.combine;

import dev.lockstep.sql.RoundTrip;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;

/**
 * Stops a batch from being written at another time than it was decided for.
 *
 * <p>The node's clock stands in for the database's (see {@link CacheTrust}), and is right when the
 * batch is decided. But then the node may pause, the packet may be delayed, or the batch may wait
 * for a lock. So the database compares the times once all locks are held. A batch that is off by
 * more than {@link #TOLERANCE} fails, and is decided again from what it reads then.
 *
 * <p>So an instant is closed once it lies further back than the tolerance: any batch that gets the
 * row's lock after that writes a later time.
 */
public final class Timely {
  /** Longer than a batch takes from decision to server, unless something is wrong. */
  public static final Duration TOLERANCE = Duration.ofMillis(100);

  // Fails by a division by zero. Names no table, so a distributed database answers it locally.
  private static final String REQUIRE = "SELECT 1 / (clock_timestamp() BETWEEN ? AND ?)::integer";

  private Timely() {}

  /** Adds the comparison. The statements that lock the rows must come before it. */
  public static void require(RoundTrip trip, Instant decidedAt) {
    trip.query(
        REQUIRE,
        row -> true,
        decidedAt.minus(TOLERANCE).atOffset(ZoneOffset.UTC),
        decidedAt.plus(TOLERANCE).atOffset(ZoneOffset.UTC));
  }
}
