package dev.lockstep.server.purchase;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A step on its way through a transaction, which tells it whether it was taken there. A transaction
 * that is retried tells it again; what holds is what the one that committed has told.
 */
final class StepAttempt {
  private final Step step;
  private volatile @Nullable Change wanted;
  private volatile boolean taken;

  StepAttempt(Step step) {
    this.step = step;
  }

  Step step() {
    return step;
  }

  /**
   * What came of it.
   *
   * @param change what was to be written; null: nothing
   * @param written whether it was
   */
  void decided(@Nullable Change change, boolean written) {
    wanted = change;
    taken = written;
  }

  /** The purchase was further than the step assumed, so that nothing of it was written. */
  boolean cameTooLate() {
    return wanted != null && !taken;
  }

  /** The status that the purchase has now for good, if this step gave it one. */
  Optional<Status> end() {
    return Optional.ofNullable(taken ? wanted : null)
        .map(change -> change.after().status())
        .filter(Status::isEnd);
  }
}
