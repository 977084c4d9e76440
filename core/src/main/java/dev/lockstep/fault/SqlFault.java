package dev.lockstep.fault;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What an SQLSTATE means to Lockstep. Only this class reads SQLSTATEs. No code reads an error
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
  /** 08xxx, 57P0x, 53300: there is no connection, or it was lost. */
  UNAVAILABLE,
  /**
   * 25P03, 25P04: the server ended the session because the next statement came too late or the
   * transaction took too long.
   */
  OVERDUE,
  /** 25006: the server takes no writes. It is a standby, or a former primary. */
  READ_ONLY,
  /** 53100: the server's disk is full. A retry helps only after an operator has freed space. */
  DISK_FULL,
  /** 23xxx: unique, check, foreign key, not null, exclusion. */
  CONSTRAINT,
  /** Everything else: a mistake in the statement or in its data. */
  OTHER;

  private static final String IDLE_IN_TRANSACTION = "25P03";
  private static final String TRANSACTION_TIMEOUT = "25P04";
  private static final String STANDBY = "25006";
  private static final String ENDED = "2201G";

  /** The SQLSTATE of a conflict that Lockstep detected, not the server. */
  public static final String CONFLICT = "40001";

  /** Whether the whole transaction may simply run again, as long as COMMIT was not sent. */
  public boolean retryable() {
    return this == SERIALIZATION || this == DEADLOCK || isAway();
  }

  /** Whether this connection no longer leads to a primary that takes work. */
  public boolean isAway() {
    return this == UNAVAILABLE || this == OVERDUE || this == READ_ONLY;
  }

  /** Whether the same work might succeed with more time. */
  public boolean mayPass() {
    return retryable() || this == LOCK_TIMEOUT || this == CANCELLED || this == DISK_FULL;
  }

  /**
   * Whether this exception of COMMIT proves that the server rolled back. Silence proves nothing.
   * Neither does an ended session: the server may already have been waiting for a replica. But a
   * session ended for being idle in its transaction never read the COMMIT.
   */
  public static boolean serverRolledBack(SQLException thrown) {
    return hasState(thrown)
        && of(thrown) != UNAVAILABLE
        && !TRANSACTION_TIMEOUT.equals(thrown.getSQLState());
  }

  /**
   * Interprets a failed SET TRANSACTION READ WRITE: a standby answers "not supported". For any
   * other statement that state means just what it says.
   *
   * @return null if the failure does not mean a standby
   */
  public static @Nullable SQLException ofStandby(SQLException thrown) {
    return "0A000".equals(thrown.getSQLState()) ? standby("The server is a standby", thrown) : null;
  }

  /**
   * Interprets a failed check that the transaction is still open ({@code Opening.STILL_OPEN}).
   *
   * @return null if the failure does not mean that the work ended its transaction
   */
  public static @Nullable SQLException ofEnded(SQLException thrown) {
    return ENDED.equals(thrown.getSQLState())
        ? new SQLException(
            "The work ended its transaction itself, with COMMIT, ROLLBACK or a change of"
                + " auto-commit. What it wrote afterwards was rolled back. Throw an exception to"
                + " roll back; leave COMMIT to the Transactor",
            ENDED,
            thrown)
        : null;
  }

  /** The fault of finding a standby where a primary is needed. */
  public static SQLException standby(String message, @Nullable SQLException cause) {
    return new SQLException(message, STANDBY, cause);
  }

  /** Whether the server ended the session because it was idle in its transaction: 25P03. */
  public static boolean saysIdle(Throwable thrown) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof SQLException e) {
        return IDLE_IN_TRANSACTION.equals(e.getSQLState());
      }
    }
    return false;
  }

  /** Whether a driver refuses a call because a transaction is in progress: 25001. */
  public static boolean saysInTransaction(SQLException thrown) {
    return "25001".equals(thrown.getSQLState());
  }

  /**
   * The fault a block throws if a guard in its own write shows that another transaction was faster.
   * The whole transaction then runs again, as after any serialization failure.
   */
  public static SQLException conflict(String message) {
    return new SQLException(message, CONFLICT);
  }

  /**
   * Rewords the failure of a statement whose own lookup found nothing and wrote NULL to a column
   * that refuses it (23502). Any other failure passes unchanged.
   */
  public static SQLException orMissing(SQLException thrown, Supplier<String> message) {
    return "23502".equals(thrown.getSQLState())
        ? new SQLException(message.get(), thrown.getSQLState(), thrown)
        : thrown;
  }

  /**
   * As {@link #conflict}, for a transaction decided from cached state: if the server refused it,
   * the retry reads the rows and decides again. A failure that the server did not report stays in
   * doubt, and a transient failure passes unchanged.
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
    // A JDBC batch reports its own state first; the row's state is in the chain behind it.
    for (SQLException e = exception; e != null; e = e.getNextException()) {
      SqlFault fault = ofOne(e);
      if (fault != OTHER) {
        return fault;
      }
    }
    return OTHER;
  }

  /**
   * As {@link #of(SQLException)}, but in a read-only transaction a refused write is the caller's
   * mistake, on any server.
   */
  public static SqlFault of(SQLException exception, boolean readOnly) {
    SqlFault fault = of(exception);
    return fault == READ_ONLY && readOnly ? OTHER : fault;
  }

  /**
   * The fault behind an exception that other libraries may have wrapped. Empty behind an {@link
   * OutcomeUnknown}, which must not pass for a retryable fault.
   */
  public static Optional<SqlFault> behind(@Nullable Throwable thrown) {
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

  /**
   * The transient fault behind an exception that another library made of an SQLException; empty if
   * there is none, or it is not transient.
   */
  public static Optional<TransientFault> passingBehind(Throwable thrown) {
    return behind(thrown)
        .filter(SqlFault::mayPass)
        .map(fault -> (TransientFault) fault.asException("The work failed", thrown));
  }

  public LockstepException asException(String doing, Throwable cause) {
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

  /**
   * Pools report a missing connection or a timeout by exception type, often without an SQLSTATE.
   */
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
