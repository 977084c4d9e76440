package dev.lockstep.job;

import dev.lockstep.tx.AdvisoryLocks;
import dev.lockstep.tx.ConstraintViolated;
import dev.lockstep.tx.LockTimeout;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.StatementTimeout;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions of {@code job_history}: one per day (UTC), made ahead and dropped whole.
 *
 * <p>Both take a lock that readers of the history stand in the way of, and everybody else queues up
 * behind who waits for such a lock. So each is a transaction of its own that waits a tenth of a
 * second at most. What is not done then is left for another time: partitions are made days ahead,
 * and what has no partition goes to {@code job_history_rest}, the default one. A day that has rows
 * there gets no partition any more; they are removed in small batches when they are too old.
 *
 * <pre>
 *                      history          its default     the day's
 * make a day's         SHARE UPDATE EX. ACCESS EX.      (new)         writers of other days go on
 * drop a day's         ACCESS EX.       ACCESS EX.      ACCESS EX.    all wait, for a moment
 * </pre>
 */
final class History {
  private static final Logger log = LoggerFactory.getLogger(History.class);
  private static final String LOCK = "lockstep job history";
  private static final DateTimeFormatter DAY = DateTimeFormatter.BASIC_ISO_DATE;
  private static final String PREFIX = "job_history_";
  private static final int DAYS_AHEAD = 3;
  private static final int REMOVAL_BATCH = 1_000;

  private static final Duration LOCK_WAIT = Duration.ofMillis(100);
  // To look through the default partition, which is empty as a rule, under its lock.
  private static final Duration LONGEST_STEP = Duration.ofSeconds(2);

  private static final String TODAY = "SELECT (now() AT TIME ZONE 'UTC')::date";
  private static final String DAYS =
      """
      SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'lockstep.job_history'::regclass AND c.relname ~ '^job_history_[0-9]{8}$'
      ORDER BY c.relname""";

  private static final String IN_REST =
      """
      SELECT 1 FROM lockstep.job_history_rest
      WHERE finished_at >= ?::timestamptz AND finished_at < ?::timestamptz LIMIT 1""";

  private static final String CLEAR_REST =
      """
      WITH old AS MATERIALIZED (
        SELECT shard, id, finished_at FROM lockstep.job_history_rest
        WHERE finished_at < ?::timestamptz
        ORDER BY finished_at LIMIT ? FOR UPDATE SKIP LOCKED)
      DELETE FROM lockstep.job_history_rest r USING old o
      WHERE r.shard = o.shard AND r.id = o.id AND r.finished_at = o.finished_at""";

  private final Transactor transactor;
  private final TxOptions options;
  private final int keepDays;

  History(Transactor transactor, int keepDays) {
    this.transactor = transactor;
    this.options =
        transactor
            .defaults()
            .withLabel("job history")
            .withLockTimeout(LOCK_WAIT)
            .withStatementTimeout(LONGEST_STEP);
    this.keepDays = keepDays;
  }

  private record State(LocalDate today, List<String> days) {}

  /**
   * Makes the partitions of today and of the days to come. Several nodes may at once.
   *
   * @return false if something is left for another time
   */
  boolean makeAhead() {
    if (keepDays == 0) {
      return true;
    }
    State state = look();
    boolean all = true;
    for (int i = 0; i <= DAYS_AHEAD; i++) {
      LocalDate day = state.today().plusDays(i);
      all &= state.days().contains(name(day)) || tryAlone(connection -> make(connection, day));
    }
    return all;
  }

  /**
   * Drops what is too old. Several nodes may at once.
   *
   * @param goOn asked between two steps; false: end soon
   * @return false if something is left for another time
   */
  boolean dropOld(BooleanSupplier goOn) {
    State state = look();
    LocalDate oldest = state.today().minusDays(keepDays);
    for (String name : state.days()) {
      // One that is read is read for a while, and likely so are the others.
      if (day(name).isBefore(oldest)
          && !(goOn.getAsBoolean() && tryAlone(connection -> drop(connection, name)))) {
        return false;
      }
    }
    while (goOn.getAsBoolean()) {
      RemoveSome some = new RemoveSome(oldest);
      if (!tryAlone(some)) {
        return false;
      }
      if (some.removed < REMOVAL_BATCH) {
        return true;
      }
    }
    return false;
  }

  private State look() {
    return transactor.call(options.asReadOnly(), History::look);
  }

  private static State look(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<LocalDate> today = trip.query(TODAY, row -> row.getObject(1, LocalDate.class));
    Rows<String> days = trip.query(DAYS, row -> row.getString(1));
    trip.send();
    return new State(today.list().get(0), days.list());
  }

  @FunctionalInterface
  private interface Step {
    void run(Connection connection) throws SQLException;
  }

  private boolean tryAlone(Step step) {
    try {
      transactor.run(
          options,
          connection -> {
            AdvisoryLocks.lock(connection, LOCK);
            step.run(connection);
          });
      return true;
    } catch (LockTimeout | StatementTimeout | ConstraintViolated e) {
      // The last: a row of that day went to the default partition at this moment.
      log.debug("Left for another time", e);
      return false;
    }
  }

  /** Attached, not made as a partition: that would wait for everybody who reads or writes. */
  private static void make(Connection connection, LocalDate day) throws SQLException {
    String from = day + " 00:00:00+00";
    String to = day.plusDays(1) + " 00:00:00+00";
    RoundTrip look = new RoundTrip(connection);
    Rows<String> days = look.query(DAYS, row -> row.getString(1));
    Rows<Boolean> rest = look.query(IN_REST, row -> true, from, to);
    look.send();
    if (days.list().contains(name(day)) || !rest.list().isEmpty()) {
      return;
    }
    // The name is our own, made of digits: nothing of anybody's gets into a statement.
    String table = "lockstep." + name(day);
    RoundTrip trip = new RoundTrip(connection);
    trip.update(
        "CREATE TABLE %s (LIKE lockstep.job_history INCLUDING DEFAULTS INCLUDING CONSTRAINTS)"
            .formatted(table));
    // Rows come by time, so this costs a page a day: for how much was done lately.
    trip.update(
        "CREATE INDEX %s_finished ON %s USING brin (finished_at)".formatted(name(day), table));
    trip.update(
        "ALTER TABLE lockstep.job_history ATTACH PARTITION %s FOR VALUES FROM ('%s') TO ('%s')"
            .formatted(table, from, to));
    trip.send();
  }

  private static void drop(Connection connection, String name) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update("DROP TABLE IF EXISTS lockstep." + name);
    trip.send();
  }

  /** Small transactions, until none is left. */
  private static final class RemoveSome implements Step {
    private final LocalDate oldest;
    private int removed;

    RemoveSome(LocalDate oldest) {
      this.oldest = oldest;
    }

    @Override
    public void run(Connection connection) throws SQLException {
      RoundTrip trip = new RoundTrip(connection);
      Rows<Object> gone = trip.update(CLEAR_REST, oldest + " 00:00:00+00", REMOVAL_BATCH);
      trip.send();
      removed = gone.changed();
    }
  }

  private static String name(LocalDate day) {
    return PREFIX + DAY.format(day);
  }

  private static LocalDate day(String name) {
    return LocalDate.parse(name.substring(PREFIX.length()), DAY);
  }
}
