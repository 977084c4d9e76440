package dev.lockstep.job;

import dev.lockstep.tx.TxAction;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * How a job ended, as its handler reports it. An exception or error counts as {@link Retry} with
 * its description; so does null. Outcomes validate when constructed, so a bad one throws inside the
 * handler.
 */
public sealed interface Outcome {
  /** The longest delay of a job: ten years. */
  Duration LONGEST = JobsConfig.LONGEST;

  static Done done() {
    return new Done(Optional.empty());
  }

  /**
   * Finished: the job is deleted.
   *
   * @param effects written in the transaction that deletes the job, so they happen if and only if
   *     the job completes. They run again, from the start, if that transaction is retried. They may
   *     cancel or edit the job itself; it then stays as they leave it and is neither deleted nor
   *     counted as failed
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
   * Failed: runs again later; after the last attempt it is dead.
   *
   * @param error what went wrong; cut to {@link JobsConfig#maxErrorLength}, with characters the
   *     database cannot store replaced
   * @param after how long from now, 0 to {@link #LONGEST}; empty: the queue's backoff
   */
  record Retry(String error, Optional<Duration> after) implements Outcome {
    public Retry {
      Objects.requireNonNull(
          error, "error is null; pass what went wrong, e.g. exception.toString()");
      Objects.requireNonNull(after, "after is null; pass Optional.empty() for the queue's backoff");
      after.ifPresent(Outcome::requireBounded);
    }

    public Retry(String error) {
      this(error, Optional.empty());
    }
  }

  /**
   * Not yet: runs again after this time; no attempt is counted.
   *
   * @param after 0 to {@link #LONGEST}
   */
  record Snooze(Duration after) implements Outcome {
    public Snooze {
      Objects.requireNonNull(after, "after is null; pass how long to snooze");
      requireBounded(after);
    }
  }

  /** No longer needed: the job is deleted without being done. */
  record Cancel() implements Outcome {}

  /**
   * Cannot succeed: becomes a dead letter at once.
   *
   * @param reason stored like {@link Retry#error}
   */
  record Dead(String reason) implements Outcome {
    public Dead {
      Objects.requireNonNull(reason, "reason is null; pass why the job is dead");
    }
  }

  private static void requireBounded(Duration after) {
    if (after.isNegative() || after.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("A job's delay must be 0 to ten years, not " + after);
    }
  }
}
