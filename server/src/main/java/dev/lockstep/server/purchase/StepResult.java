package dev.lockstep.server.purchase;

import java.util.Optional;

/** What came of a step in its transaction. */
sealed interface StepResult {
  /** There was nothing to write. */
  record Idle() implements StepResult {}

  /** The step was taken. */
  record Taken(Change change) implements StepResult {}

  /** The purchase had moved on, so nothing was written. */
  record TooLate() implements StepResult {}

  /** Something depends on the sale, so its goods stay sold; nothing was written. */
  record GoodsStay() implements StepResult {}

  /** The status in which the purchase ended, if this step ended it. */
  default Optional<PurchaseStatus> end() {
    return this instanceof Taken taken && !taken.change().isPart()
        ? Optional.of(taken.change().after().status()).filter(PurchaseStatus::isEnd)
        : Optional.empty();
  }
}
