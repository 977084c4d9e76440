package dev.lockstep.tx;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.sql.IndexLookups;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.tx.CommitDoubt.Suspect;
import java.time.Duration;
import java.util.Optional;

/**
 * The settings a transaction begins with. They travel in one round trip with BEGIN and end with the
 * transaction.
 */
final class Opening {
  // Ends with the transaction, even if the work ends it. After that it is null or empty.
  private static final String BEGUN = "lockstep.transaction";

  /**
   * Fails unless this transaction is the one that the settings opened and is still sound. Work may
   * have ended it: COMMIT would then confirm only what came after. A transaction with a failed
   * statement answers COMMIT with ROLLBACK, and the driver reports success; this query fails in it.
   *
   * <p>A bucket count of zero is an error with an SQLSTATE that hardly anything else raises: see
   * {@link SqlFault#ofEnded}.
   */
  static final String STILL_OPEN =
      "SELECT width_bucket(0, 0, 1, (current_setting('"
          + BEGUN
          + "', true) IS NOT DISTINCT FROM 'on')::int)";

  private static final String BEGIN_MARK = "set_config('" + BEGUN + "', 'on', true), ";

  // idle_in_transaction_session_timeout ends a session that waits for its client to send;
  // tcp_user_timeout ends one that waits for its client to receive, which no other timeout does.
  // Setting it where the operating system lacks it would fill the server's log.
  private static final String TIMEOUTS =
      """
      set_config('lock_timeout', ?, true), set_config('statement_timeout', ?, true),
        set_config('idle_in_transaction_session_timeout', ?, true),
        set_config('tcp_user_timeout', CASE WHEN version() LIKE '%linux%' THEN ? ELSE '0' END, true)""";

  // Ends a session that waits for the rest of a message, which no other timeout does.
  private static final String TRANSACTION_TIMEOUT =
      """
      ,
        set_config('transaction_timeout', ?, true)""";

  // Replaces transaction_timeout: the server notices that the client is gone and cannot send the
  // rest. tcp_keepalives_count does not matter; tcp_user_timeout counts from the last packet once a
  // probe was sent.
  private static final String KEEP_ALIVES =
      """
      ,
        set_config('tcp_keepalives_idle', CASE WHEN version() LIKE '%linux%' THEN ? ELSE '0' END, true),
        set_config('tcp_keepalives_interval', CASE WHEN version() LIKE '%linux%' THEN '1' ELSE '0' END, true)""";

  private static final int HAS_TRANSACTION_TIMEOUT = 17;

  /** Time for the client to end its transaction first, because the client can say why. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  private final TxOptions options;
  private final Deadline deadline;
  private final boolean identified;
  private final boolean hasTransactionTimeout;

  /**
   * @param identified also read the transaction's identity, which later tells whether the server
   *     has finished the transaction
   * @param serverVersion the major version
   */
  Opening(TxOptions options, Deadline deadline, boolean identified, int serverVersion) {
    this.options = options;
    this.deadline = deadline;
    this.identified = identified;
    this.hasTransactionTimeout = serverVersion >= HAS_TRANSACTION_TIMEOUT;
  }

  /** Adds the settings. If the identity was asked for, the row carries it once the trip is sent. */
  Rows<Optional<Suspect>> addTo(RoundTrip trip) {
    long statementMs = atMost(options.statementTimeout());
    String lockTimeout = String.valueOf(Math.min(options.lockTimeout().toMillis(), statementMs));
    String statementTimeout = String.valueOf(statementMs);
    String idleTimeout = String.valueOf(atMost(options.idleTimeout()));
    String last = hasTransactionTimeout ? transactionTimeout() : keepAliveAfterSeconds();
    trip.update(
        "SET TRANSACTION ISOLATION LEVEL "
            + options.isolation().sql()
            + (options.readOnly() ? " READ ONLY" : " READ WRITE"));
    if (!identified && options.isolation() != Isolation.READ_COMMITTED) {
      return setLocal(trip, lockTimeout, statementTimeout, idleTimeout, last);
    }
    return trip.query(
        prologue(),
        row -> identified ? Optional.of(Suspect.from(row)) : Optional.empty(),
        lockTimeout,
        statementTimeout,
        idleTimeout,
        idleTimeout,
        last);
  }

  private long atMost(Duration timeout) {
    return Math.max(1, deadline.orSooner(timeout).toMillis());
  }

  private String transactionTimeout() {
    long leftMs = deadline.remaining().plus(GRACE).toMillis();
    return String.valueOf(Math.min(options.effectiveTransactionTimeout().toMillis(), leftMs));
  }

  private String keepAliveAfterSeconds() {
    return String.valueOf(Math.max(1, atMost(options.idleTimeout()) / 1000));
  }

  /**
   * Uses SET instead of SELECT, which would take the transaction's snapshot: work that locks first
   * and then reads would see the state from before it had the lock.
   */
  private Rows<Optional<Suspect>> setLocal(
      RoundTrip trip,
      String lockTimeout,
      String statementTimeout,
      String idleTimeout,
      String last) {
    if (options.indexLookups()) {
      IndexLookups.SETTINGS.forEach(
          one -> trip.update("SET LOCAL " + one.name() + " = " + one.value()));
    }
    trip.update("SET LOCAL " + BEGUN + " = 'on'");
    trip.update("SET LOCAL lock_timeout = " + lockTimeout);
    trip.update("SET LOCAL idle_in_transaction_session_timeout = " + idleTimeout);
    trip.update("SET LOCAL tcp_user_timeout = " + idleTimeout);
    if (hasTransactionTimeout) {
      trip.update("SET LOCAL transaction_timeout = " + last);
    } else {
      trip.update("SET LOCAL tcp_keepalives_idle = " + last);
      trip.update("SET LOCAL tcp_keepalives_interval = 1");
    }
    return trip.query("SET LOCAL statement_timeout = " + statementTimeout, row -> Optional.empty());
  }

  private String prologue() {
    return "SELECT "
        + (identified ? CommitDoubt.IDENTITY + ", " : "")
        + BEGIN_MARK
        + TIMEOUTS
        + (hasTransactionTimeout ? TRANSACTION_TIMEOUT : KEEP_ALIVES)
        + (options.indexLookups() ? ", " + IndexLookups.ON : "");
  }
}
