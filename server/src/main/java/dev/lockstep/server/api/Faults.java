package dev.lockstep.server.api;

import dev.lockstep.tx.OutcomeUnknown;
import dev.lockstep.tx.TransientFault;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Turns what was thrown into the problem it is answered with. */
final class Faults {
  private static final Duration SOON = Duration.ofSeconds(1);

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
    if (thrown instanceof TransientFault) {
      return Problem.of(
              "unavailable", 503, "Unavailable", "The database could not do it now; try again.")
          .retryAfter(SOON);
    }
    return Problem.internal();
  }

  /** What a stage that failed was given: the wrapping says nothing, the cause everything. */
  static Throwable causeOf(Throwable failure) {
    Throwable thrown = failure;
    Throwable cause = thrown.getCause();
    while (cause != null
        && (thrown instanceof CompletionException || thrown instanceof ExecutionException)) {
      thrown = cause;
      cause = thrown.getCause();
    }
    return thrown;
  }
}
