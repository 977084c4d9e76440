package dev.lockstep.tx;

import dev.lockstep.fault.DeadlineExceeded;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.ExchangeWork;
import dev.lockstep.sql.GuardFailed;
import dev.lockstep.sql.HandedOut;
import dev.lockstep.sql.Listening;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.tx.CommitDoubt.Suspect;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Runs one call of a Transactor: repeats it until an attempt commits or fails for good, or the
 * deadline passes. Once an attempt was lost that may still commit, every result and failure goes
 * through {@link EarlierAttempts}.
 *
 * @param <T> what the work returns
 * @param <R> what the caller gets
 */
final class Attempts<T, R> {

  private static final String COMMIT = "COMMIT";

  // A stalled process or network may have recovered, so one overdue attempt is retried. Work that
  // is too slow stays too slow, and repeats its effects outside the database on every attempt.
  private static final int MAX_TIMES_OVERDUE = 2;

  private final Source connections;
  private final TxOptions options;
  private final TxListener listener;
  private final Watch watch;
  private final ExchangeWork<T> work;
  private final @Nullable EffectLookup<T> lookup;
  private final EarlierAttempts.Report<T, R> report;
  private final Deadline deadline;
  private EarlierAttempts earlier = EarlierAttempts.ALL_ENDED;
  private int guardsFailed;
  private int timesOverdue;
  // Send each party's statements, and COMMIT, in separate round trips, so that we know which one
  // failed.
  private boolean apart;

  Attempts(
      Source connections,
      TxOptions options,
      TxListener listener,
      Watch watch,
      ExchangeWork<T> work,
      @Nullable EffectLookup<T> lookup,
      EarlierAttempts.Report<T, R> report) {
    this.connections = connections;
    this.options = options;
    this.listener = listener;
    this.watch = watch;
    this.work = work;
    this.lookup = lookup;
    this.report = report;
    this.deadline = Deadline.after(options.deadline());
  }

  R run() {
    T result;
    try {
      result = untilCommitted();
    } catch (Throwable e) {
      throw earlier.failure(e);
    }
    return earlier.report(result, report);
  }

  private T untilCommitted() {
    for (int number = 1; ; number++) {
      Attempt attempt = new Attempt(number);
      T result;
      try {
        result = attempt.run();
      } catch (OutcomeUnknown e) {
        if (attempt.inDoubt) {
          attempt.tell(
              TxOutcome.UNKNOWN, SqlFault.behind(e.getCause()).orElse(null), Duration.ZERO);
          throw e;
        }
        retryOrThrow(attempt, e);
        continue;
      } catch (Throwable e) {
        retryOrThrow(attempt, e);
        continue;
      }
      attempt.tell(
          attempt.lookedUp ? TxOutcome.FOUND_COMMITTED : TxOutcome.COMMITTED, null, Duration.ZERO);
      return result;
    }
  }

  /** Waits out the backoff and returns if another attempt follows; otherwise throws. */
  private void retryOrThrow(Attempt attempt, Throwable thrown) {
    SqlFault fault = faultBehind(thrown);
    Duration backoff = options.retry().backoffAfter(attempt.number);
    boolean overdue = fault == SqlFault.OVERDUE || attempt.lostAfterIdleTimeout(fault);
    timesOverdue += overdue ? 1 : 0;
    boolean again =
        fault != null
            && fault.retryable()
            && timesOverdue < MAX_TIMES_OVERDUE
            && !attempt.cutByDeadline()
            && attempt.number < options.retry().maxAttempts()
            && backoff.compareTo(deadline.remaining()) < 0
            && !Thread.currentThread().isInterrupted();
    if (again) {
      attempt.tell(TxOutcome.RETRIED, fault, backoff);
      tellApartAfter(thrown);
      LockSupport.parkNanos(this, backoff.toNanos());
      return;
    }
    attempt.tell(
        earlier == EarlierAttempts.ALL_ENDED ? TxOutcome.FAILED : TxOutcome.UNKNOWN,
        fault,
        Duration.ZERO);
    if (attempt.cutByDeadline() || (fault != null && fault.mayPass() && deadline.passed())) {
      throw new DeadlineExceeded(
          "%s: not finished within its deadline of %s (attempt %d)"
              .formatted(options.label(), options.deadline(), attempt.number),
          thrown);
    }
    if (fault == SqlFault.OVERDUE || timesOverdue >= MAX_TIMES_OVERDUE) {
      throw OverdueFault.of(options, attempt.number, thrown);
    }
    if (thrown instanceof SQLException && fault != null) {
      throw fault.asException(describe(attempt), thrown);
    }
    throw EarlierAttempts.ALL_ENDED.failure(thrown);
  }

  /**
   * A write in a read-only transaction is a programming error on any server, not a sign of a
   * standby.
   */
  private @Nullable SqlFault faultBehind(Throwable thrown) {
    SqlFault fault = SqlFault.behind(thrown).orElse(null);
    return fault == SqlFault.READ_ONLY && options.readOnly() ? SqlFault.OTHER : fault;
  }

  /**
   * The first failed guard usually means that another transaction was faster. A second failure may
   * come from a deferred constraint on a table that is not ours, which only COMMIT checks.
   */
  private void tellApartAfter(Throwable thrown) {
    GuardFailed failed = GuardFailed.behind(thrown);
    if (failed != null) {
      guardsFailed++;
      apart |= !failed.certain() || guardsFailed > 1;
    }
  }

  private String describe(Attempt attempt) {
    return attempt.number == 1
        ? options.label()
        : "%s (after %d attempts)".formatted(options.label(), attempt.number);
  }

  /** A single attempt: connection, BEGIN with settings, work, COMMIT. */
  private final class Attempt {
    final int number;
    private final long startedNanos = System.nanoTime();
    private long connectedNanos = startedNanos;
    private @Nullable Watchdog watchdog;
    private boolean lookedUp;
    // True once COMMIT may be under way. Before that, an OutcomeUnknown is one that the work met
    // elsewhere: this transaction rolls back.
    private boolean inDoubt;
    // Empty until the server has sent it.
    private List<Optional<Suspect>> identity = List.of();
    // True if auto-commit must stay off: switching it on would commit what is left of the
    // transaction.
    private boolean leftOpen;

    Attempt(int number) {
      this.number = number;
    }

    boolean cutByDeadline() {
      return watchdog != null && watchdog.hasCut();
    }

    /**
     * Whether the server may have ended an idle session without the driver reading its error. A
     * driver that is still sending only sees that the connection is broken.
     */
    boolean lostAfterIdleTimeout(@Nullable SqlFault fault) {
      return fault == SqlFault.UNAVAILABLE
          && watchdog != null
          && System.nanoTime() - connectedNanos >= options.idleTimeout().toNanos();
    }

    T run() throws SQLException {
      Connection connection = connections.dataSource().getConnection();
      connectedNanos = System.nanoTime();
      boolean autoCommit = true;
      // True until we know that the connection carries no foreign transaction.
      leftOpen = true;
      try {
        HandedOut.requireOurs(connection, connections.manualCommit());
        if (!options.readOnly()) {
          HandedOut.requireWritable(connection);
        }
        autoCommit = connection.getAutoCommit();
        leftOpen = false;
        if (deadline.passed()) {
          throw new DeadlineExceeded(
              "%s: no connection within the deadline of %s"
                  .formatted(options.label(), options.deadline()),
              null);
        }
        return transact(connection);
      } finally {
        // A failure from here on must not hide a finished COMMIT.
        if (!leftOpen) {
          HandedOut.restoreAutoCommit(connection, autoCommit);
        }
        HandedOut.close(connection);
      }
    }

    private T transact(Connection connection) throws SQLException {
      Watchdog guard = watch.over(connection, deadline);
      watchdog = guard;
      try {
        connection.setAutoCommit(false);
        // The driver learnt the version when it connected: no round trip.
        int serverVersion = connection.getMetaData().getDatabaseMajorVersion();
        Exchange exchange =
            Exchange.opening(connection, () -> opening(connection, serverVersion), apart);
        T result = work.run(exchange);
        try {
          return commit(connection, guard, exchange, result);
        } catch (Throwable e) {
          exchange.tellNotCommitted(e);
          throw e;
        }
      } catch (Throwable e) {
        // Any Throwable: Kotlin and Lombok code may throw checked exceptions undeclared.
        rollback(connection, guard, e);
        throw e;
      } finally {
        guard.finish();
      }
    }

    private RoundTrip opening(Connection connection, int serverVersion) {
      RoundTrip trip = new RoundTrip(connection, !apart);
      Opening opening = new Opening(options, deadline, lookup != null, serverVersion);
      trip.meaning(SqlFault::ofStandby, settings -> identity = opening.addTo(settings).list());
      return trip;
    }

    private T commit(Connection connection, Watchdog guard, Exchange exchange, T result)
        throws SQLException {
      if (guard.hasCut()) {
        throw new DeadlineExceeded("The deadline passed before COMMIT", null);
      }
      RoundTrip trip = exchange.takePending();
      if (trip != null && apart && !exchange.isLoneStatement()) {
        trip.send();
        trip = null;
      }
      if (trip == null) {
        trip = new RoundTrip(connection, true);
      }
      if (exchange.isLoneStatement()) {
        connection.setAutoCommit(true);
      } else {
        // Deferred statements keep their own meaning of a failure. For constraints that
        // only COMMIT checks, see tellApartAfter.
        trip.meaning(SqlFault::ofEnded, last -> last.update(Opening.STILL_OPEN));
        trip.meaning(thrown -> null, last -> last.update(COMMIT));
      }
      // A connection that is already dead fails here, before COMMIT is sent and the outcome is in
      // doubt.
      PreparedStatement prepared = trip.prepare();
      inDoubt = true;
      try {
        trip.send(prepared);
        return result;
      } catch (SQLException e) {
        if (trip.isAnswered()) {
          throw unreadable(e);
        }
        if (SqlFault.serverRolledBack(e)) {
          throw e;
        }
        Suspect suspect = identity.stream().findAny().flatMap(i -> i).orElse(null);
        return resolve(connection, guard, suspect, exchange.repeatable(), e);
      } catch (Throwable e) {
        throw trip.isAnswered()
            ? unreadable(e)
            : new OutcomeUnknown(
                options.label() + ": COMMIT broke off in this process; look the effect up", e);
      }
    }

    /**
     * The effect is certain, but its answer is lost. Running the work again would repeat the
     * effect.
     */
    private OutcomeUnknown unreadable(Throwable cause) {
      return new OutcomeUnknown(
          options.label() + ": committed, but its rows could not be read; look the effect up",
          cause);
    }

    private T resolve(
        Connection connection,
        Watchdog guard,
        @Nullable Suspect identity,
        boolean repeatable,
        SQLException lost)
        throws SQLException {
      if (lookup == null || (identity == null && !repeatable)) {
        throw new OutcomeUnknown(
            options.label() + ": the connection was lost during COMMIT; look the effect up", lost);
      }
      // The inquiry needs a connection. If the pool lost all of them at once, it may need this
      // one's place.
      guard.finish();
      leftOpen = true;
      HandedOut.discard(connection);
      HandedOut.close(connection);
      Optional<T> found =
          new CommitDoubt<>(connections, options, watch, identity, lookup).settle(lost);
      if (found.isPresent()) {
        lookedUp = true;
        return found.get();
      }
      if (identity == null) {
        earlier = new EarlierAttempts.Lost(options.label(), lost);
      }
      throw lost;
    }

    private void rollback(Connection connection, Watchdog guard, Throwable because) {
      if (leftOpen || guard.hasCut()) {
        leftOpen = true;
        return;
      }
      try {
        if (!connection.getAutoCommit()) {
          connection.rollback();
        }
        if (faultBehind(because) == SqlFault.READ_ONLY) {
          // The connection works, but its server takes no writes: the pool must not hand it out
          // again.
          leftOpen = true;
          HandedOut.discard(connection);
        }
      } catch (Throwable e) {
        leftOpen = true;
        because.addSuppressed(e);
        HandedOut.discard(connection);
      }
    }

    void tell(TxOutcome outcome, @Nullable SqlFault fault, Duration backoff) {
      TxAttempt attempt =
          new TxAttempt(
              options.label(),
              number,
              Duration.ofNanos(connectedNanos - startedNanos),
              Duration.ofNanos(System.nanoTime() - startedNanos),
              outcome,
              Optional.ofNullable(fault),
              backoff);
      Listening.tell(() -> listener.onAttempt(attempt));
    }
  }
}
