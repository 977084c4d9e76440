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

  /** Explains by the message: each transport throws another type for a port that is taken. */
  public static CannotStart listening(int port, Throwable cause) {
    String why = String.valueOf(cause.getMessage());
    String problem =
        why.contains("already in use")
            ? "port " + port + " is taken; stop what listens there, perhaps another Lockstep, or"
            : "cannot listen on port " + port + " (" + why + ");";
    return new CannotStart(problem + " choose another with --port", cause);
  }
}
