package dev.lockstep.server.purchase;

import java.util.Optional;

/** What came of a step in its transaction. */
sealed interface StepResult {
  /** There was nothing to write. */
  record Idle() implements StepResult {}

  /** The step was taken. */
  record Taken(Change change) implements StepResult {}

  /** The purchase was further than the step assumed, so nothing of it was written. */
  record TooLate() implements StepResult {}

  /** Something rests on the sale, so its goods cannot come back; nothing was written. */
  record GoodsStay() implements StepResult {}

  /** The status that the purchase has now for good, if this step gave it one. */
  default Optional<PurchaseStatus> end() {
    return this instanceof Taken taken && !taken.change().isPart()
        ? Optional.of(taken.change().after().status()).filter(PurchaseStatus::isEnd)
        : Optional.empty();
  }
}
