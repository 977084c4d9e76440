package dev.lockstep.tx;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.Optional;
import java.util.function.Supplier;
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
  /** 57014: statement_timeout or a cancel request. */
  CANCELLED,
  /** 08xxx, 57P0x, 53300: no connection, or not any more. */
  UNAVAILABLE,
  /**
   * 25P03, 25P04: the server ended the session, since it waited too long for the next statement, or
   * since the transaction took too long.
   */
  OVERDUE,
  /** 25006: the server takes no writes. It is a standby, or was the primary once. */
  READ_ONLY,
  /** 53100: the server has no room to write. Waiting helps only when somebody makes some. */
  DISK_FULL,
  /** 23xxx: unique, check, foreign key, not null, exclusion. */
  CONSTRAINT,
  /** Everything else: a mistake in the statement or in its data. */
  OTHER;

  private static final String IDLE_IN_TRANSACTION = "25P03";
  private static final String TRANSACTION_TIMEOUT = "25P04";
  private static final String STANDBY = "25006";

  /** Of a conflict that we found ourselves. */
  static final String CONFLICT = "40001";

  /** Whether the whole transaction may simply be run again, as long as COMMIT was not sent. */
  public boolean retryable() {
    return this == SERIALIZATION || this == DEADLOCK || isAway();
  }

  /** Whether the database is not there at all, or not at the end of this connection. */
  boolean isAway() {
    return this == UNAVAILABLE || this == OVERDUE || this == READ_ONLY;
  }

  /** Whether more time might have helped. */
  boolean mayPass() {
    return retryable() || this == LOCK_TIMEOUT || this == CANCELLED || this == DISK_FULL;
  }

  /**
   * Whether this, thrown by COMMIT, is the server's own word that it rolled back. Silence is not,
   * nor is a session that was ended: the server may have been waiting for a replica by then. But
   * one that was ended for being idle in its transaction never came to read the COMMIT.
   */
  public static boolean serverRolledBack(SQLException thrown) {
    return hasState(thrown)
        && of(thrown) != UNAVAILABLE
        && !TRANSACTION_TIMEOUT.equals(thrown.getSQLState());
  }

  /**
   * What a server that is a standby says to SET TRANSACTION READ WRITE: it does not support that.
   * Of any other statement the state means just what it says.
   *
   * @return null: nothing of the kind
   */
  static @Nullable SQLException ofStandby(SQLException thrown) {
    return "0A000".equals(thrown.getSQLState()) ? standby("The server is a standby", thrown) : null;
  }

  /** A server that is a standby was found where the primary was wanted. */
  static SQLException standby(String message, @Nullable SQLException cause) {
    return new SQLException(message, STANDBY, cause);
  }

  /** Whether the server waited for too long: 25P03. */
  static boolean saysIdle(Throwable thrown) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof SQLException e) {
        return IDLE_IN_TRANSACTION.equals(e.getSQLState());
      }
    }
    return false;
  }

  /** Whether a driver refuses a call because a transaction is in progress: 25001. */
  static boolean saysInTransaction(SQLException thrown) {
    return "25001".equals(thrown.getSQLState());
  }

  /**
   * The fault a block reports when a guard in its own write found that somebody else was faster:
   * the whole transaction is then run again, as after any serialization failure.
   */
  public static SQLException conflict(String message) {
    return new SQLException(message, CONFLICT);
  }

  /**
   * The same where the guard is a constraint of a table; any other failure stays what it is. For
   * {@link RoundTrip#guarded}: what it is applied to must have failed in the guard's own statement.
   */
  public static SQLException orConflict(SQLException thrown, String message) {
    return of(thrown) == CONSTRAINT ? GuardFailed.surely(message, thrown) : thrown;
  }

  /**
   * The fault of a statement that looks up what it needs by itself, and found nothing: NULL in a
   * column that refuses it (23502). In the caller's words; any other failure stays what it is.
   */
  public static SQLException orMissing(SQLException thrown, Supplier<String> message) {
    return "23502".equals(thrown.getSQLState())
        ? new SQLException(message.get(), thrown.getSQLState(), thrown)
        : thrown;
  }

  /**
   * The same for a transaction that was decided on what was remembered and not read: whatever the
   * server itself refused about it, a look at the rows will tell. What it did not say itself stays
   * a doubt, and what may pass by itself stays what it is.
   */
  public static SQLException orLookAgain(SQLException thrown, String message) {
    SqlFault fault = of(thrown);
    if (!serverRolledBack(thrown) || (fault != CONSTRAINT && fault != OTHER)) {
      return thrown;
    }
    SQLException conflict = conflict(message);
    conflict.initCause(thrown);
    return conflict;
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

  /**
   * As {@link #of(SQLException)}, in a transaction that its caller may have marked as read-only: to
   * write there is a mistake, on whichever server.
   */
  static SqlFault of(SQLException exception, boolean readOnly) {
    SqlFault fault = of(exception);
    return fault == READ_ONLY && readOnly ? OTHER : fault;
  }

  /**
   * The fault behind an exception that may have been wrapped by other libraries; empty behind an
   * {@link OutcomeUnknown}, which must not be taken for something that may be tried again.
   */
  static Optional<SqlFault> behind(@Nullable Throwable thrown) {
    int depth = 0;
    for (Throwable t = thrown; t != null && depth < 20; t = t.getCause(), depth++) {
      if (t instanceof OutcomeUnknown) {
        return Optional.empty();
      }
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
      case OVERDUE -> new TransactionTimeout(message, cause);
      case UNAVAILABLE, READ_ONLY, DISK_FULL -> new DatabaseUnavailable(message, cause);
      case CONSTRAINT -> new ConstraintViolated(message, cause);
      case OTHER -> new StatementFailed(message, cause);
    };
  }

  private static SqlFault ofOne(SQLException e) {
    if (!hasState(e)) {
      return isWithoutConnection(e) ? UNAVAILABLE : OTHER;
    }
    String state = e.getSQLState();
    return switch (state) {
      case "40001" -> SERIALIZATION;
      case "40P01" -> DEADLOCK;
      case "55P03" -> LOCK_TIMEOUT;
      case "57014" -> CANCELLED;
      case "57P01", "57P02", "57P03", "57P05", "53300" -> UNAVAILABLE;
      case IDLE_IN_TRANSACTION, TRANSACTION_TIMEOUT -> OVERDUE;
      case STANDBY -> READ_ONLY;
      case "53100" -> DISK_FULL;
      default -> ofClass(state.substring(0, 2));
    };
  }

  private static boolean hasState(SQLException e) {
    return e.getSQLState() != null && e.getSQLState().length() == 5;
  }

  /** Pools say by type, often without a state, that there is no connection or no time for one. */
  private static boolean isWithoutConnection(SQLException e) {
    return e instanceof SQLTransientConnectionException
        || e instanceof SQLNonTransientConnectionException
        || e instanceof SQLRecoverableException
        || e.getCause() instanceof InterruptedException;
  }

  private static SqlFault ofClass(String stateClass) {
    return switch (stateClass) {
      case "08" -> UNAVAILABLE;
      case "23" -> CONSTRAINT;
      default -> OTHER;
    };
  }
}
