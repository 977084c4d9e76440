package dev.lockstep.server.purchase;

import dev.lockstep.server.api.Answer;

/** What came of an order in its first transaction. */
sealed interface BeginResult {
  /** The purchase has begun; payment comes next. */
  record Begun(Purchase purchase) implements BeginResult {}

  /** It is answered already. */
  record Answered(Answer answer) implements BeginResult {}
}
