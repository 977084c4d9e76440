package dev.lockstep.job;

import java.time.Duration;

/**
 * Somebody who wants jobs to do.
 *
 * @param claimer who that is; nobody else may say how these jobs ended
 * @param max how many jobs, up to {@link #MAX_JOBS}
 * @param lease for how long they are the claimer's, unless a heartbeat extends it
 */
public record ClaimAsk(String claimer, int max, Duration lease) {
  public static final int MAX_JOBS = 500;
  public static final Duration LONGEST_LEASE = Duration.ofDays(1);

  public ClaimAsk {
    Names.require("A claimer", claimer);
    if (max < 1 || max > MAX_JOBS) {
      throw new IllegalArgumentException("A claim is for 1 to %d jobs".formatted(MAX_JOBS));
    }
    requireLease(lease);
  }

  static void requireLease(Duration lease) {
    if (lease.toMillis() < 1 || lease.compareTo(LONGEST_LEASE) > 0) {
      throw new IllegalArgumentException("A lease is 1 ms to a day, not " + lease);
    }
  }
}
