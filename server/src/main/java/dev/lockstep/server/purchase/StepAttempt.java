package dev.lockstep.server.purchase;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A step on its way through a transaction, which tells it whether it was taken there. A transaction
 * that is retried tells it again; what holds is what the one that committed has told.
 */
final class StepAttempt {
  private final Step step;
  private volatile @Nullable Change taken;

  StepAttempt(Step step) {
    this.step = step;
  }

  Step step() {
    return step;
  }

  /**
   * What came of it.
   *
   * @param change as it was written; null: it was not taken
   */
  void decided(@Nullable Change change) {
    taken = change;
  }

  /** The status that the purchase has now for good, if this step gave it one. */
  Optional<Status> end() {
    return Optional.ofNullable(taken).map(change -> change.after().status()).filter(Status::isEnd);
  }
}
