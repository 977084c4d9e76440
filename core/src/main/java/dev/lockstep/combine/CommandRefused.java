package dev.lockstep.combine;

/**
 * Thrown by a {@link Companion} to undo a command whose effect is already written, and still answer
 * it. The transaction rolls back, and the batch is split until the refused command is alone. Throw
 * it for any one such command: only a command that is refused alone gets the answer, as {@link
 * CompanionResult.RolledBack}.
 */
public final class CommandRefused extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Object result;

  /**
   * @param result what the companion would otherwise return for the command, of the same type
   */
  public CommandRefused(Object result) {
    super("The companion refused the command", null, false, false);
    this.result = result;
  }

  /** The companion's result for the command. */
  public Object result() {
    return result;
  }
}
