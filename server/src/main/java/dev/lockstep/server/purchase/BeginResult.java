package dev.lockstep.server.purchase;

import dev.lockstep.server.api.Answer;

/** What came of an order in its first transaction. */
sealed interface BeginResult {
  /** The purchase is begun, and is to be paid. */
  record Begun(Purchase purchase) implements BeginResult {}

  /** There is an answer already. */
  record Answered(Answer answer) implements BeginResult {}
}
