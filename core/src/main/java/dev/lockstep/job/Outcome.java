package dev.lockstep.job;

import dev.lockstep.tx.TxAction;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * How a job ended, said by its handler. An exception or error counts as {@link Retry} with its
 * message; so does null, which is no outcome. Each is checked when it is made, so that what is
 * wrong with it is thrown in the handler.
 */
public sealed interface Outcome {
  /** The longest time a job may be put off by: ten years. */
  Duration LONGEST = JobsConfig.LONGEST;

  static Done done() {
    return new Done(Optional.empty());
  }

  /**
   * Finished: the job is deleted.
   *
   * @param effects written in the transaction that deletes the job, so that they happen if and only
   *     if the job is completed; run again, whole, when that transaction is retried. They may
   *     cancel or edit the job itself: then it is gone, or there as they leave it, and neither
   *     deleted nor counted as failed
   */
  record Done(Optional<TxAction> effects) implements Outcome {
    public Done {
      Objects.requireNonNull(effects, "effects is null; Outcome.done() has none");
    }

    public static Done writing(TxAction effects) {
      return new Done(Optional.of(effects));
    }
  }

  /**
   * Failed: again later, unless this was the last attempt; then it is dead.
   *
   * @param error what went wrong; of a long one the beginning is kept ({@link
   *     JobsConfig#maxErrorLength}), and what the database cannot store of it is replaced
   * @param after how long from now, 0 to {@link #LONGEST}; empty: by the queue's backoff
   */
  record Retry(String error, Optional<Duration> after) implements Outcome {
    public Retry {
      Objects.requireNonNull(
          error, "error is null; say what went wrong, e.g. exception.toString()");
      Objects.requireNonNull(after, "after is null; Optional.empty() waits by the queue's backoff");
      after.ifPresent(Outcome::requireBounded);
    }

    public Retry(String error) {
      this(error, Optional.empty());
    }
  }

  /**
   * Not yet: again after this time, and no attempt is counted.
   *
   * @param after 0 to {@link #LONGEST}
   */
  record Snooze(Duration after) implements Outcome {
    public Snooze {
      Objects.requireNonNull(after, "after is null; a Snooze says how long");
      requireBounded(after);
    }
  }

  /** Not needed any more: the job is deleted without having been done. */
  record Cancel() implements Outcome {}

  /**
   * Will never succeed: a dead letter at once.
   *
   * @param reason kept as {@link Retry#error} is
   */
  record Dead(String reason) implements Outcome {
    public Dead {
      Objects.requireNonNull(reason, "reason is null; a dead letter says why it is one");
    }
  }

  private static void requireBounded(Duration after) {
    if (after.isNegative() || after.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("A job is put off by 0 to ten years, not by " + after);
    }
  }
}
