package dev.lockstep.tx;

import dev.lockstep.tx.CommitDoubt.Suspect;
import dev.lockstep.tx.TxAttempt.Outcome;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One call of a Transactor: attempts until it commits, fails for good, or runs out of time. Once an
 * attempt was lost that may still commit, whatever comes of the others leaves through {@link Past}.
 *
 * @param <T> what the work returns
 * @param <R> what the caller is told
 */
final class Attempts<T, R> {

  // A transaction in which a statement failed answers COMMIT with ROLLBACK, which the driver lets
  // pass as success. The empty SELECT fails there instead; both travel in one packet.
  private static final String MUST_BE_SOUND = "SELECT";
  private static final String COMMIT = "COMMIT";

  // A process or network that stood still once may be well again. Work that is too slow is too slow
  // again, and repeats what it does outside the database each time.
  private static final int MAX_TIMES_OVERDUE = 2;

  private final Source connections;
  private final TxOptions options;
  private final TxListener listener;
  private final Watch watch;
  private final ExchangeWork<T> work;
  private final @Nullable EffectLookup<T> lookup;
  private final Past.Telling<T, R> telling;
  private final Deadline deadline;
  private Past past = Past.CLEAR;
  private int guardsFailed;
  private int timesOverdue;
  // Every party's statements travel by themselves, and so does COMMIT: what fails is then known.
  private boolean apart;

  Attempts(
      Source connections,
      TxOptions options,
      TxListener listener,
      Watch watch,
      ExchangeWork<T> work,
      @Nullable EffectLookup<T> lookup,
      Past.Telling<T, R> telling) {
    this.connections = connections;
    this.options = options;
    this.listener = listener;
    this.watch = watch;
    this.work = work;
    this.lookup = lookup;
    this.telling = telling;
    this.deadline = Deadline.after(options.deadline());
  }

  R run() {
    T result;
    try {
      result = attempt();
    } catch (Throwable e) {
      throw past.thrown(e);
    }
    return past.told(result, telling);
  }

  private T attempt() {
    for (int number = 1; ; number++) {
      One one = new One(number);
      T result;
      try {
        result = one.run();
      } catch (OutcomeUnknown e) {
        one.tell(Outcome.UNKNOWN, SqlFault.behind(e.getCause()).orElse(null), Duration.ZERO);
        throw e;
      } catch (Throwable e) {
        retryOrThrow(one, e);
        continue;
      }
      one.tell(one.lookedUp ? Outcome.FOUND_COMMITTED : Outcome.COMMITTED, null, Duration.ZERO);
      return result;
    }
  }

  /** Returns after the backoff when there is to be another attempt. */
  private void retryOrThrow(One one, Throwable thrown) {
    SqlFault fault = faultBehind(thrown);
    Duration backoff = options.retry().backoffAfter(one.number);
    boolean overdue = fault == SqlFault.OVERDUE || one.lostAfterIdleTimeout(fault);
    timesOverdue += overdue ? 1 : 0;
    boolean again =
        fault != null
            && fault.retryable()
            && timesOverdue < MAX_TIMES_OVERDUE
            && !one.cutByDeadline()
            && one.number < options.retry().maxAttempts()
            && backoff.compareTo(deadline.remaining()) < 0
            && !Thread.currentThread().isInterrupted();
    if (again) {
      one.tell(Outcome.RETRIED, fault, backoff);
      tellApartAfter(thrown);
      LockSupport.parkNanos(this, backoff.toNanos());
      return;
    }
    one.tell(past == Past.CLEAR ? Outcome.FAILED : Outcome.UNKNOWN, fault, Duration.ZERO);
    if (one.cutByDeadline() || (fault != null && fault.mayPass() && deadline.passed())) {
      throw new DeadlineExceeded(
          "%s: not done within %s (attempt %d)"
              .formatted(options.label(), options.deadline(), one.number),
          thrown);
    }
    if (fault == SqlFault.OVERDUE || timesOverdue >= MAX_TIMES_OVERDUE) {
      throw TransactionTimeout.of(options, one.number, thrown);
    }
    if (thrown instanceof SQLException && fault != null) {
      throw fault.asException(describe(one), thrown);
    }
    throw Past.CLEAR.thrown(thrown);
  }

  /** To write in a transaction that was to be read-only is a mistake, on whichever server. */
  private @Nullable SqlFault faultBehind(Throwable thrown) {
    SqlFault fault = SqlFault.behind(thrown).orElse(null);
    return fault == SqlFault.READ_ONLY && options.readOnly() ? SqlFault.OTHER : fault;
  }

  /**
   * A guard that fails once is somebody faster, mostly. A second time it may be a constraint that
   * only COMMIT checks, of a table that is not ours.
   */
  private void tellApartAfter(Throwable thrown) {
    GuardFailed failed = GuardFailed.behind(thrown);
    if (failed != null) {
      guardsFailed++;
      apart |= !failed.certain() || guardsFailed > 1;
    }
  }

  private String describe(One one) {
    return one.number == 1
        ? options.label()
        : "%s (after %d attempts)".formatted(options.label(), one.number);
  }

  /** A single attempt: connection, BEGIN with settings, work, COMMIT. */
  private final class One {
    final int number;
    private final long startedNanos = System.nanoTime();
    private long connectedNanos = startedNanos;
    private @Nullable Watchdog watchdog;
    private boolean lookedUp;
    // Empty until the server has told it.
    private List<Optional<Suspect>> identity = List.of();
    // Switching auto-commit back on would commit what is left of the transaction.
    private boolean leftOpen;

    One(int number) {
      this.number = number;
    }

    boolean cutByDeadline() {
      return watchdog != null && watchdog.hasCut();
    }

    /**
     * Whether the server may have ended a session that was idle without the driver getting to read
     * its word: while it is still sending, it learns only that nobody takes what it sends.
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
      // Until it is certain that nobody else's transaction is on it.
      leftOpen = true;
      try {
        HandedOut.requireOurs(connection, connections.manualCommit());
        autoCommit = connection.getAutoCommit();
        leftOpen = false;
        if (deadline.passed()) {
          throw new DeadlineExceeded(
              "%s: no connection within %s".formatted(options.label(), options.deadline()), null);
        }
        return transact(connection);
      } finally {
        // What goes wrong from here on must not hide a COMMIT that is done.
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
        // The driver was told when it connected: no round trip.
        int serverVersion = connection.getMetaData().getDatabaseMajorVersion();
        Exchange exchange =
            Exchange.opening(connection, () -> opening(connection, serverVersion), apart);
        T result = work.run(exchange);
        return commit(connection, guard, exchange, result);
      } catch (Throwable e) {
        // Of every kind: what the work throws need not be declared (Kotlin, Lombok).
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
      if (trip != null && apart && !exchange.isAlone()) {
        trip.send();
        trip = null;
      }
      if (trip == null) {
        trip = new RoundTrip(connection, true);
        trip.update(MUST_BE_SOUND);
      }
      if (exchange.isAlone()) {
        connection.setAutoCommit(true);
      } else {
        // What is put off fails as its own; and what only COMMIT checks, see tellApartAfter.
        trip.meaning(thrown -> null, last -> last.update(COMMIT));
      }
      // A connection that is already gone fails here, before there can be any doubt.
      PreparedStatement prepared = trip.prepare();
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

    /** The effect is certain, but not what to answer; running the work again would repeat it. */
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
      // Asking needs a connection. When all were lost at once, this one's place in the pool may be
      // what somebody is waiting for.
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
        past = new Past.Lost(options.label(), lost);
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
          // In good order, but no good: the pool must not hand it out again.
          leftOpen = true;
          HandedOut.discard(connection);
        }
      } catch (Throwable e) {
        leftOpen = true;
        because.addSuppressed(e);
        HandedOut.discard(connection);
      }
    }

    void tell(Outcome outcome, @Nullable SqlFault fault, Duration backoff) {
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
