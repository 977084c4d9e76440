package dev.lockstep.server;

/**
 * The command line or environment asks for something impossible; the message is one line for the
 * user.
 */
final class WrongUse extends RuntimeException {
  private static final long serialVersionUID = 1L;

  WrongUse(String message) {
    super(message);
  }
}
