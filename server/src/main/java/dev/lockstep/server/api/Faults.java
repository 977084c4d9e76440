package dev.lockstep.server.api;

import dev.lockstep.fault.LockstepException;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.fault.TransientFault;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Turns what was thrown into the problem it is answered with. Whatever an exception was wrapped in
 * on its way here says nothing, what it wraps says everything: so the same fault of the database is
 * the same answer on every route.
 */
final class Faults {
  private static final Duration SOON = Duration.ofSeconds(1);

  /** Deeper than anything wraps. */
  private static final int MAX_DEPTH = 20;

  private Faults() {}

  static Problem problemOf(Throwable failure) {
    Throwable thrown = causeOf(failure);
    if (thrown instanceof ProblemException known) {
      return known.problem();
    }
    if (thrown instanceof OutcomeUnknown) {
      return Problem.of(
              "outcome-unknown",
              503,
              "Outcome unknown",
              "The database was lost during the commit. Repeat the request with the same"
                  + " Idempotency-Key to learn what became of it.")
          .retryAfter(SOON);
    }
    if (thrown instanceof TransientFault || isPassing(thrown)) {
      return Problem.of(
              "unavailable", 503, "Unavailable", "The database could not do it now; try again.")
          .retryAfter(SOON);
    }
    return Problem.internal();
  }

  /** The first that says what happened, from the outside in; itself, if none does. */
  static Throwable causeOf(Throwable failure) {
    Throwable thrown = failure;
    for (int depth = 0; thrown != null && depth < MAX_DEPTH; depth++) {
      if (thrown instanceof ProblemException
          || thrown instanceof SQLException
          || (thrown instanceof LockstepException && !(thrown instanceof TransactionDoomed))) {
        return thrown;
      }
      thrown = thrown.getCause();
    }
    return failure;
  }

  /** Of the driver or the pool, where no transactor stood between. */
  private static boolean isPassing(Throwable thrown) {
    if (!(thrown instanceof SQLException sql)) {
      return false;
    }
    SqlFault fault = SqlFault.of(sql);
    return fault.retryable() || fault == SqlFault.LOCK_TIMEOUT || fault == SqlFault.CANCELLED;
  }
}
