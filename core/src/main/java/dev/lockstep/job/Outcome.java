package dev.lockstep.job;

import dev.lockstep.tx.TxAction;
import java.time.Duration;
import java.util.Optional;

/** How a job ended, said by its handler. An exception counts as {@link Retry} with its message. */
public sealed interface Outcome {

  static Done done() {
    return new Done(Optional.empty());
  }

  /**
   * Finished: the job is deleted.
   *
   * @param effects written in the transaction that deletes the job, so that they happen if and only
   *     if the job is completed; run again, whole, when that transaction is retried
   */
  record Done(Optional<TxAction> effects) implements Outcome {
    public static Done writing(TxAction effects) {
      return new Done(Optional.of(effects));
    }
  }

  /**
   * Failed: again later, unless this was the last attempt; then it is dead.
   *
   * @param after how long from now; empty: by the queue's backoff
   */
  record Retry(String error, Optional<Duration> after) implements Outcome {
    public Retry(String error) {
      this(error, Optional.empty());
    }
  }

  /** Not yet: again after this time, and no attempt is counted. */
  record Snooze(Duration after) implements Outcome {}

  /** Not needed any more: the job is deleted without having been done. */
  record Cancel() implements Outcome {}

  /** Will never succeed: a dead letter at once. */
  record Dead(String reason) implements Outcome {}
}
