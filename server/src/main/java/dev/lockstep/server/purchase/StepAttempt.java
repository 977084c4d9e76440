package dev.lockstep.server.purchase;

import dev.lockstep.hold.HoldOutcome;
import java.util.Optional;

/**
 * A step on its way through a transaction, which tells it whether it was taken there. A transaction
 * that is retried tells it again; what holds is what the one that committed has told.
 */
final class StepAttempt {
  private final Step step;
  private volatile boolean taken;

  StepAttempt(Step step) {
    this.step = step;
  }

  Step step() {
    return step;
  }

  void decided(boolean wasTaken) {
    taken = wasTaken;
  }

  /** The status that the purchase has now for good, if this step gave it one. */
  Optional<Status> end(HoldOutcome outcome) {
    return taken
        ? step.after(outcome).map(change -> change.after().status()).filter(Status::isEnd)
        : Optional.empty();
  }
}
