package dev.lockstep.server.lifecycle;

/**
 * The environment prevents the start. The message is one line: what is wrong and what to do next,
 * never a credential.
 */
public final class CannotStart extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public CannotStart(String message, Throwable cause) {
    super(message, cause);
  }

  public CannotStart(String message) {
    super(message);
  }
}
