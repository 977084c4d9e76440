package dev.lockstep.cli.rush;

/** The rush could not run; the message is one line for the user. */
public final class RushFailed extends Exception {
  private static final long serialVersionUID = 1L;

  RushFailed(String message) {
    super(message);
  }
}
