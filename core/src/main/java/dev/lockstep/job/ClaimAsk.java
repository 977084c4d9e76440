package dev.lockstep.job;

import java.time.Duration;

/**
 * One request to claim jobs.
 *
 * @param claimer identifies the requester; only this claimer may end the jobs it gets
 * @param max how many jobs, up to {@link #MAX_JOBS}
 * @param lease how long the claims last unless extended
 */
public record ClaimAsk(String claimer, int max, Duration lease) {
  public static final int MAX_JOBS = 500;
  public static final Duration LONGEST_LEASE = Duration.ofDays(1);

  public ClaimAsk {
    NameRule.require("A claimer", claimer);
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
