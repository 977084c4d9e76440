package dev.lockstep.once;

import java.time.Duration;

/**
 * The limits of idempotency.
 *
 * @param keepFor how long an answer is kept (24 h), up to ten years
 * @param maxAnswerLength characters of a stored answer (1,000,000)
 * @param removalBatch expired rows removed per transaction (1,000)
 */
public record OnceConfig(Duration keepFor, int maxAnswerLength, int removalBatch) {
  private static final Duration MAX_KEEP_FOR = Duration.ofDays(3650);
  public static final OnceConfig DEFAULT = new OnceConfig(Duration.ofHours(24), 1_000_000, 1_000);

  public OnceConfig {
    if (keepFor.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new IllegalArgumentException("keepFor must be at least 1 s, is " + keepFor);
    }
    if (keepFor.compareTo(MAX_KEEP_FOR) > 0) {
      throw new IllegalArgumentException("keepFor must not exceed ten years, is " + keepFor);
    }
    if (maxAnswerLength < 1 || removalBatch < 1) {
      throw new IllegalArgumentException("maxAnswerLength and removalBatch must be at least 1");
    }
  }

  public OnceConfig withKeepFor(Duration keepFor) {
    return new OnceConfig(keepFor, maxAnswerLength, removalBatch);
  }

  public OnceConfig withRemovalBatch(int removalBatch) {
    return new OnceConfig(keepFor, maxAnswerLength, removalBatch);
  }
}
