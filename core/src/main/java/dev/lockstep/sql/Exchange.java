package dev.lockstep.sql;

import dev.lockstep.work.OpenTransaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A transaction seen as round trips, for work that saves them. The first {@link #trip()} carries
 * BEGIN and the transaction's settings. A trip passed to {@link #defer} travels with the next one,
 * or with COMMIT. A transaction that reads once and writes once then takes two round trips instead
 * of four.
 *
 * <p>Statements always run in the order they were added: a deferred trip is sent before anything
 * that follows it. Not thread-safe.
 */
public final class Exchange implements OpenTransaction {
  private final Connection connection;
  private final boolean commitFollows;
  private final boolean apart;
  // At most one of these is set: the settings that go with BEGIN, or the deferred trip.
  private @Nullable Supplier<RoundTrip> opening;
  private @Nullable RoundTrip later;
  private boolean repeatable;
  private boolean loneStatement;
  private Consumer<Throwable> whenNotCommitted = thrown -> {};

  private Exchange(Connection connection, boolean commitFollows, boolean apart) {
    this.connection = connection;
    this.commitFollows = commitFollows;
    this.apart = apart;
  }

  /**
   * An exchange inside the caller's transaction. It defers nothing, because the caller sends
   * COMMIT.
   */
  public static Exchange within(Connection connection) {
    return new Exchange(connection, false, true);
  }

  /**
   * An exchange of a transaction that begins with the opening trip. The supplier is called only if
   * that trip is sent.
   *
   * @param apart guarded statements share no trip with others
   */
  public static Exchange opening(
      Connection connection, Supplier<RoundTrip> opening, boolean apart) {
    Exchange exchange = new Exchange(connection, true, apart);
    exchange.opening = opening;
    return exchange;
  }

  /** Returns the exchange behind a transaction; it takes fewer round trips than a connection. */
  public static Exchange of(OpenTransaction transaction) throws SQLException {
    return transaction instanceof Exchange exchange ? exchange : within(transaction.connection());
  }

  /** Returns the connection, for statements of any kind. Sends the deferred trip first. */
  @Override
  public Connection connection() throws SQLException {
    RoundTrip pending = takePending();
    if (pending != null) {
      loneStatement = false;
      pending.send();
    }
    return connection;
  }

  /**
   * Returns a trip to fill: empty, or with the deferred statements already in it. Send it or defer
   * it. If a constraint failure fits several parties, the next attempt separates them.
   */
  public RoundTrip trip() {
    RoundTrip pending = takePending();
    loneStatement = false;
    return pending == null ? new RoundTrip(connection, !apart) : pending;
  }

  /**
   * Defers the trip: it travels with the next trip, or with COMMIT. Its rows may arrive only after
   * the transaction is over. Put every guard into its statements as an error: a trip that fails
   * commits nothing.
   */
  public void defer(RoundTrip trip) throws SQLException {
    if (commitFollows) {
      connection();
      later = trip.isEmpty() ? null : trip;
    } else {
      trip.send();
    }
  }

  /**
   * As {@link #defer}, for a trip that may be the only one and then travels with BEGIN as well.
   * Until its answer arrives, we do not know the transaction's id. If the connection is lost, we
   * look the effect up once; unless it is there, the work runs again, and the lost attempt may
   * still commit after the retry. The guards must hold against the work itself: if the retry wrote
   * something, the lost attempt must fail. Any answer that no such guard protects is {@link
   * AttemptResult.Conditional}.
   */
  public void deferInOnePacket(RoundTrip trip) throws SQLException {
    defer(trip);
    repeatable = true;
  }

  /**
   * Returns a trip for one statement that replaces the whole transaction: the server runs a lone
   * statement in its own transaction, without BEGIN, settings and COMMIT. Isolation and timeouts
   * are those of the session, and the statement must be correct under any of them. Fill the trip;
   * do not send it. As with {@link #deferInOnePacket}, a lost attempt may still commit after the
   * work ran again.
   *
   * @throws IllegalStateException after anything was sent, or in the caller's transaction
   */
  public RoundTrip loneStatement() {
    if (opening == null) {
      throw new IllegalStateException(
          "loneStatement() must be the only statement of a transaction that the Transactor begins");
    }
    RoundTrip trip = new RoundTrip(connection);
    opening = null;
    later = trip;
    repeatable = true;
    loneStatement = true;
    return trip;
  }

  /**
   * Tells the listener if the transaction fails after the work has returned: in the trip that
   * carries COMMIT, or because the connection is gone by then. The failure may be in doubt.
   */
  public void whenNotCommitted(Consumer<Throwable> listener) {
    whenNotCommitted = listener;
  }

  /** Calls the listener of {@link #whenNotCommitted}. */
  public void tellNotCommitted(Throwable thrown) {
    whenNotCommitted.accept(thrown);
  }

  /** Whether {@link #loneStatement} replaces the transaction, so there is no COMMIT to send. */
  public boolean isLoneStatement() {
    return loneStatement;
  }

  /**
   * Whether the work may run again after a lost connection although the lost attempt may still
   * commit.
   */
  public boolean repeatable() {
    return repeatable;
  }

  /** Takes the trip to send before anything else; null if there is none. */
  public @Nullable RoundTrip takePending() {
    RoundTrip pending = opening == null ? later : opening.get();
    opening = null;
    later = null;
    return pending;
  }
}
