package dev.lockstep.combine;

/**
 * What a block decided about a command.
 *
 * @param provisional expired items still have to be ended that may change the outcome, so the
 *     command must be decided again before its caller gets an answer
 */
public record CommandDecision<O>(O outcome, boolean provisional) {
  public static <O> CommandDecision<O> certain(O outcome) {
    return new CommandDecision<>(outcome, false);
  }
}
