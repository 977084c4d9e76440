package dev.lockstep.server.job;

import dev.lockstep.job.ClaimAsk;
import dev.lockstep.server.setting.Kind;
import dev.lockstep.server.setting.SettingReader;
import java.time.Duration;

/**
 * Bounds and defaults for callers who do jobs over HTTP.
 *
 * @param maxJobs the most jobs that one request claims (100)
 * @param lease default length of a claim (30 s)
 * @param maxLease the longest that a request can ask for (1 h)
 * @param maxWait the longest that a request can wait for jobs (60 s)
 * @param maxWaiting requests that may wait at this server (2,000)
 */
public record ClaimRules(
    int maxJobs, Duration lease, Duration maxLease, Duration maxWait, int maxWaiting) {
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(10);
  private static final int MAX_WAITING = 100_000;

  public static final ClaimRules DEFAULT =
      new ClaimRules(
          100, Duration.ofSeconds(30), Duration.ofHours(1), Duration.ofSeconds(60), 2_000);

  public ClaimRules {
    if (maxJobs < 1 || maxJobs > ClaimAsk.MAX_JOBS) {
      throw new IllegalArgumentException("maxJobs must be 1 to " + ClaimAsk.MAX_JOBS);
    }
    if (lease.toSeconds() < 1
        || lease.compareTo(maxLease) > 0
        || maxLease.compareTo(ClaimAsk.LONGEST_LEASE) > 0) {
      throw new IllegalArgumentException("1 s <= lease <= maxLease <= " + ClaimAsk.LONGEST_LEASE);
    }
    if (maxWait.isNegative() || maxWait.compareTo(LONGEST_WAIT) > 0) {
      throw new IllegalArgumentException("maxWait must be 0 s to " + LONGEST_WAIT);
    }
    if (maxWaiting < 1 || maxWaiting > MAX_WAITING) {
      throw new IllegalArgumentException("maxWaiting must be 1 to " + MAX_WAITING);
    }
  }

  public static ClaimRules read(SettingReader in) {
    in.group("Work over HTTP");
    ClaimRules usual = DEFAULT;
    Duration second = Duration.ofSeconds(1);
    int maxJobs =
        in.read(
            "claim.max-jobs",
            Kind.number(1, ClaimAsk.MAX_JOBS),
            usual.maxJobs(),
            "How many jobs one request can claim.");
    Duration lease =
        in.read(
            "claim.lease",
            Kind.duration(second, ClaimAsk.LONGEST_LEASE),
            usual.lease(),
            "How long a claim lasts by default.");
    Duration maxLease =
        in.read(
            "claim.max-lease",
            Kind.duration(second, ClaimAsk.LONGEST_LEASE),
            usual.maxLease(),
            "The longest lease of a claim, and so the longest wait of a job whose claimer died.");
    in.require(
        lease.compareTo(maxLease) <= 0,
        "claim.lease",
        "must not exceed",
        "claim.max-lease",
        "requests that do not say would be refused");
    Duration maxWait =
        in.read(
            "claim.max-wait",
            Kind.duration(Duration.ZERO, LONGEST_WAIT),
            usual.maxWait(),
            "The longest that a request can wait for jobs; proxies must allow it.");
    int maxWaiting =
        in.read(
            "claim.max-waiting",
            Kind.number(1, MAX_WAITING),
            usual.maxWaiting(),
            "How many requests may wait for jobs at this server; one more is refused.");
    return new ClaimRules(maxJobs, lease, maxLease, maxWait, maxWaiting);
  }
}
