package dev.lockstep.lab;

/** The lab cannot run; the message says why in one line, without credentials. */
public final class LabUnavailable extends RuntimeException {
  private static final long serialVersionUID = 1L;

  LabUnavailable(String message, Throwable cause) {
    super(message, cause);
  }

  LabUnavailable(String message) {
    super(message);
  }
}
