package dev.lockstep.postgres;

/**
 * The server cannot be started, stopped or used as asked. The message is one line that says what is
 * wrong and, where a person can do something, what to do; the end of the server's log follows on
 * further lines when it helps.
 */
public final class PostgresException extends RuntimeException {

  private static final long serialVersionUID = 1;

  PostgresException(String message) {
    super(message);
  }

  PostgresException(String message, Throwable cause) {
    super(message, cause);
  }
}
