package dev.lockstep.tx;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What an SQLSTATE means to us. This is the only place that reads one; no code reads an error
 * message, which changes with the server's language and version.
 */
public enum SqlFault {
  /** 40001: the snapshot cannot be reconciled with what others committed. */
  SERIALIZATION,
  /** 40P01: chosen as the victim of a deadlock. */
  DEADLOCK,
  /** 55P03: lock_timeout passed, or NOWAIT met a lock. */
  LOCK_TIMEOUT,
  /** 57014, 25P04: statement_timeout, transaction_timeout or a cancel request. */
  CANCELLED,
  /** 08xxx, 57P0x, 25P03, 53300: no connection, or not any more. */
  UNAVAILABLE,
  /** 23xxx: unique, check, foreign key, not null, exclusion. */
  CONSTRAINT,
  /** 22003, 22023: a value outside what the server can take. */
  OUT_OF_RANGE,
  /** Everything else: a mistake in the statement or in its data. */
  OTHER;

  /** Whether the whole transaction may simply be run again, as long as COMMIT was not sent. */
  public boolean retryable() {
    return this == SERIALIZATION || this == DEADLOCK || this == UNAVAILABLE;
  }

  public static SqlFault of(SQLException exception) {
    // A batch reports its own state first and the row's state in the chain behind it.
    for (SQLException e = exception; e != null; e = e.getNextException()) {
      SqlFault fault = ofOne(e);
      if (fault != OTHER) {
        return fault;
      }
    }
    return OTHER;
  }

  /** The fault behind an exception that may have been wrapped by other libraries. */
  static Optional<SqlFault> behind(@Nullable Throwable thrown) {
    int depth = 0;
    for (Throwable t = thrown; t != null && depth < 20; t = t.getCause(), depth++) {
      if (t instanceof SQLException e) {
        return Optional.of(of(e));
      }
    }
    return Optional.empty();
  }

  LockstepException asException(String doing, Throwable cause) {
    String message = doing + ": " + cause.getMessage();
    return switch (this) {
      case SERIALIZATION, DEADLOCK -> new SerializationConflict(message, cause);
      case LOCK_TIMEOUT -> new LockTimeout(message, cause);
      case CANCELLED -> new StatementTimeout(message, cause);
      case UNAVAILABLE -> new DatabaseUnavailable(message, cause);
      case CONSTRAINT -> new ConstraintViolated(message, cause);
      case OUT_OF_RANGE, OTHER -> new StatementFailed(message, cause);
    };
  }

  private static SqlFault ofOne(SQLException e) {
    String state = e.getSQLState();
    if (state == null || state.length() != 5) {
      // Pools report "no connection in time" by type, often without a state.
      boolean connection =
          e instanceof SQLTransientConnectionException
              || e instanceof SQLNonTransientConnectionException
              || e instanceof SQLRecoverableException;
      return connection ? UNAVAILABLE : OTHER;
    }
    return switch (state) {
      case "40001" -> SERIALIZATION;
      case "40P01" -> DEADLOCK;
      case "55P03" -> LOCK_TIMEOUT;
      case "57014", "25P04" -> CANCELLED;
      case "57P01", "57P02", "57P03", "57P05", "25P03", "53300" -> UNAVAILABLE;
      case "22003", "22023" -> OUT_OF_RANGE;
      default -> ofClass(state.substring(0, 2));
    };
  }

  private static SqlFault ofClass(String stateClass) {
    return switch (stateClass) {
      case "08" -> UNAVAILABLE;
      case "23" -> CONSTRAINT;
      default -> OTHER;
    };
  }
}
