package dev.lockstep.job;

import java.time.Duration;
import java.util.Optional;

/**
 * A job and its outcome. Never {@link Outcome.Done} with effects: those run before.
 *
 * @param ran false if the job is only given back, without a result
 */
record JobResult(Task task, Outcome outcome, Duration backoff, boolean ran) implements WriterInput {
  JobResult(Task task, Outcome outcome, Duration backoff) {
    this(task, outcome, backoff, true);
  }

  /** Gives a job back to the table: it was not run to its end, and no attempt is counted. */
  static JobResult givenBack(Task task) {
    return new JobResult(task, new Outcome.Snooze(Duration.ZERO), Duration.ZERO, false);
  }

  /** With the queue's backoff if it is a retry. */
  static JobResult of(Task task, Outcome outcome) {
    return new JobResult(
        task,
        outcome,
        outcome instanceof Outcome.Retry
            ? task.stream.state.config.backoffAfter(task.row.attempts() + 1)
            : Duration.ZERO);
  }

  JobRow row() {
    return task.row;
  }

  private boolean isLastAttempt() {
    return row().attempts() + 1 >= row().maxAttempts();
  }

  /** In how many milliseconds the job is due again; negative: never. */
  long againMs() {
    if (outcome instanceof Outcome.Snooze snooze) {
      return snooze.after().toMillis();
    }
    if (outcome instanceof Outcome.Retry retry && !isLastAttempt()) {
      return retry.after().orElse(backoff).toMillis();
    }
    return -1;
  }

  Optional<String> reasonOfDeath() {
    if (outcome instanceof Outcome.Dead dead) {
      return Optional.of(dead.reason());
    }
    return outcome instanceof Outcome.Retry retry && isLastAttempt()
        ? Optional.of("Failed %d times: %s".formatted(row().maxAttempts(), retry.error()))
        : Optional.empty();
  }
}
