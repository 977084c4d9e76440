package dev.lockstep.tx;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A transaction as a conversation with the server, for work that counts its crossings of the
 * network. The first {@link #trip()} carries BEGIN and the transaction's settings along; a trip
 * that is {@link #putOff} goes together with the next, or with COMMIT. A transaction that reads
 * once and writes once then takes two crossings instead of four.
 *
 * <p>Whatever is put off is sent before anything that follows it, so that statements run in the
 * order in which they were added, always. Not thread-safe.
 */
public final class Exchange {
  private final Connection connection;
  private final boolean commitFollows;
  private final boolean apart;
  // At most one of them is there: the settings of BEGIN, or what was put off.
  private @Nullable Supplier<RoundTrip> opening;
  private @Nullable RoundTrip later;
  private boolean repeatable;
  private boolean alone;

  private Exchange(Connection connection, boolean commitFollows, boolean apart) {
    this.connection = connection;
    this.commitFollows = commitFollows;
    this.apart = apart;
  }

  /**
   * In a transaction of the caller's, where nothing can be put off to a COMMIT that is not ours.
   */
  public static Exchange within(Connection connection) {
    return new Exchange(connection, false, true);
  }

  /**
   * Of a transaction that begins with what is in the opening trip, which is asked for if it is to
   * be sent.
   *
   * @param apart statements that guard themselves share no trip with others
   */
  static Exchange opening(Connection connection, Supplier<RoundTrip> opening, boolean apart) {
    Exchange exchange = new Exchange(connection, true, apart);
    exchange.opening = opening;
    return exchange;
  }

  /** The connection, for statements of any kind; what was put off is sent first. */
  public Connection connection() throws SQLException {
    RoundTrip pending = takePending();
    if (pending != null) {
      alone = false;
      pending.send();
    }
    return connection;
  }

  /**
   * An empty trip, or one that already has what was put off. Send it, or put it off. What a
   * constraint refuses of it is put down to whoever added the statement.
   */
  public RoundTrip trip() {
    RoundTrip pending = takePending();
    alone = false;
    return pending == null ? new RoundTrip(connection, !apart) : pending;
  }

  /**
   * Sends the trip together with what follows: the next trip, or COMMIT. Its rows may be there only
   * when the transaction is over. Every guard must therefore be in its statements, as an error: a
   * trip that fails commits nothing.
   */
  public void putOff(RoundTrip trip) throws SQLException {
    if (commitFollows) {
      connection();
      later = trip.isEmpty() ? null : trip;
    } else {
      trip.send();
    }
  }

  /**
   * As {@link #putOff}, for a trip that may be the only one and go together with BEGIN as well.
   * Until its answer is there nobody knows the transaction by its id, so a lost connection leaves
   * nothing to wait for: unless its effect is there already, the work is run again at once, and the
   * lost attempt may still commit after that. The guards must hold against the work itself: once it
   * was run again and wrote something, the lost attempt must fail. Whatever the work could not
   * write is {@link Verdict.Conditional}.
   */
  public void only(RoundTrip trip) throws SQLException {
    putOff(trip);
    repeatable = true;
  }

  /**
   * A trip for one statement that goes in place of everything: the server runs a statement that
   * stands alone in a transaction of its own, so that neither BEGIN nor settings nor COMMIT need be
   * sent. Isolation and timeouts are then those of the session, and the statement must bear with
   * any. To be filled, and not to be sent. As with {@link #only}, a lost attempt may still commit
   * after the work was run again.
   *
   * @throws IllegalStateException after anything was sent, or in a transaction of the caller's
   */
  public RoundTrip alone() {
    if (opening == null) {
      throw new IllegalStateException("It would not be alone");
    }
    RoundTrip trip = new RoundTrip(connection);
    opening = null;
    later = trip;
    repeatable = true;
    alone = true;
    return trip;
  }

  boolean isAlone() {
    return alone;
  }

  /** Whether work that was lost with its connection may be run again without a look. */
  boolean repeatable() {
    return repeatable;
  }

  /** What is to be sent with whatever is next; null: nothing. */
  @Nullable RoundTrip takePending() {
    RoundTrip pending = opening == null ? later : opening.get();
    opening = null;
    later = null;
    return pending;
  }
}
