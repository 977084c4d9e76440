package dev.lockstep.server.purchase;

import dev.lockstep.server.api.Answer;

/** What came of an order in its first transaction. */
sealed interface BeginResult {
  /** The purchase has begun; payment comes next. */
  record Begun(Purchase purchase) implements BeginResult {}

  /** There is an answer already. */
  record Answered(Answer answer) implements BeginResult {}
}
