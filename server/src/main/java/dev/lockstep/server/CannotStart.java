package dev.lockstep.server;

/**
 * The environment prevents the start. The message is one line: what is wrong and what to do next,
 * never a credential.
 */
final class CannotStart extends RuntimeException {
  private static final long serialVersionUID = 1L;

  CannotStart(String message, Throwable cause) {
    super(message, cause);
  }

  CannotStart(String message) {
    super(message);
  }
}
