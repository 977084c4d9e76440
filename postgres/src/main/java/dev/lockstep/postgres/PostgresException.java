package dev.lockstep.postgres;

/**
 * The server cannot be started, stopped or used. The message's first line says what is wrong and,
 * where possible, what to do. The end of the server's log may follow.
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
