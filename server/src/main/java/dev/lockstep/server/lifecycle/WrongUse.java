package dev.lockstep.server.lifecycle;

/**
 * The command line or the environment asks for something that cannot be; the message is one line
 * for the user.
 */
public final class WrongUse extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public WrongUse(String message) {
    super(message);
  }
}
