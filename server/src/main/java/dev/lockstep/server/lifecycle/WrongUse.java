package dev.lockstep.server.lifecycle;

/**
 * The command line or environment asks for something impossible; the message is one line for the
 * user.
 */
public final class WrongUse extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public WrongUse(String message) {
    super(message);
  }
}
