package dev.lockstep.combine;

import java.util.function.Function;

/**
 * The result of a command with a {@link Companion}.
 *
 * @param <O> the command's outcome
 * @param <R> the companion's result
 */
public sealed interface CompanionResult<O, R> {
  /** The block and the companion wrote; a refusal by the block is an outcome too. */
  record Written<O, R>(O outcome, R result) implements CompanionResult<O, R> {}

  /** The companion refused the command ({@link CommandRefused}); nothing was written. */
  record RolledBack<O, R>(R result) implements CompanionResult<O, R> {
    @Override
    public O outcome() {
      throw new IllegalStateException("The companion refused the command: " + result);
    }
  }

  /** Too many commands wait; the outcome says so. The companion was not asked. */
  record NotQueued<O, R>(O outcome) implements CompanionResult<O, R> {}

  /**
   * The command's outcome.
   *
   * @throws IllegalStateException if the companion refused the command
   */
  O outcome();

  /** The companion's result, or one made of the outcome if the command was not queued. */
  default R resultOr(Function<? super O, ? extends R> notQueued) {
    if (this instanceof Written<O, R> written) {
      return written.result();
    }
    return this instanceof RolledBack<O, R> rolledBack
        ? rolledBack.result()
        : notQueued.apply(outcome());
  }
}
