package dev.lockstep.server.api;

import java.time.Duration;

/** Why the database cannot serve anyone now. */
public enum Trouble {
  GONE("database-gone", "The database does not answer."),
  READ_ONLY("database-read-only", "The database takes no writes: it is a standby, or read-only."),
  DISK_FULL("disk-full", "The disk of the database is full.");

  /** The slug of every problem that means "the database is unavailable". */
  static final String SLUG = "unavailable";

  private static final Duration RETRY_AFTER = Duration.ofSeconds(2);

  private final String reason;
  private final String sentence;

  Trouble(String reason, String sentence) {
    this.reason = reason;
    this.sentence = sentence;
  }

  /** The name in metrics and problems. */
  public String reason() {
    return reason;
  }

  public String sentence() {
    return sentence;
  }

  /** For a request that the database could not serve. */
  Problem problem() {
    return problem(" Repeat the request with the same Idempotency-Key, if it has one.");
  }

  /** For a request that is still waiting: one of its transactions may be in progress. */
  Problem problemOfWaiting() {
    return problem(
        " The request may still take effect. Repeat it with the same Idempotency-Key, if it has"
            + " one, to learn what became of it.");
  }

  private Problem problem(String advice) {
    return Problem.of(SLUG, 503, "Unavailable", sentence + advice)
        .with("reason", reason)
        .retryAfter(RETRY_AFTER);
  }
}
