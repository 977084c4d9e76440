package dev.lockstep.job;

import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.fault.LockTimeout;
import dev.lockstep.fault.StatementTimeout;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.tx.AdvisoryLocks;
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
 * Creates and drops the partitions of {@code job_history}: one per day (UTC), made ahead and
 * dropped whole.
 *
 * <p>Both need locks that conflict with readers of the history, and other sessions queue behind a
 * waiting lock request. So each step is its own transaction and waits at most a tenth of a second.
 * A step that fails is left for the next round: partitions are made days ahead, and a row without a
 * partition goes to {@code job_history_rest}, the default one. A day that has rows there gets no
 * partition of its own; old rows there are deleted in small batches.
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
  // Time to scan the default partition, usually empty, under its lock.
  private static final Duration LONGEST_STEP = Duration.ofSeconds(2);

  private static final String KEEP =
      """
      WITH gone AS (
      %s
      RETURNING j.*)
      INSERT INTO lockstep.job_history
        (shard, id, queue, kind, payload, attempts, due, finished_at)
      SELECT shard, id, queue, kind, payload, attempts, due, now() FROM gone""";

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

  /**
   * The statement that moves done jobs to the history, with the parameters of the delete.
   *
   * @param delete deletes the jobs from {@code lockstep.job j}, without RETURNING
   */
  static String keep(String delete) {
    return KEEP.formatted(delete);
  }

  private record State(LocalDate today, List<String> days) {}

  /**
   * Makes the partitions of today and the next days. Several nodes may run it at once.
   *
   * @return false if some could not be made now
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
   * Drops partitions and rows that are too old. Several nodes may run it at once.
   *
   * @param mayContinue asked between steps; false: stop soon
   * @return false if some could not be dropped now
   */
  boolean dropOld(BooleanSupplier mayContinue) {
    State state = look();
    LocalDate oldest = state.today().minusDays(keepDays);
    for (String name : state.days()) {
      // If one partition is being read, the others probably are too, and for a while: stop here.
      if (day(name).isBefore(oldest)
          && !(mayContinue.getAsBoolean() && tryAlone(connection -> drop(connection, name)))) {
        return false;
      }
    }
    while (mayContinue.getAsBoolean()) {
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
      // ConstraintViolated: a row of that day just went to the default partition.
      log.debug("History step not possible now; it is retried in the next round", e);
      return false;
    }
  }

  /**
   * Creates the table first and then attaches it: CREATE TABLE … PARTITION OF would wait for all
   * readers and writers.
   */
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
    // The name is built from digits only, so formatting it into SQL is safe.
    String table = "lockstep." + name(day);
    RoundTrip trip = new RoundTrip(connection);
    trip.update(
        "CREATE TABLE %s (LIKE lockstep.job_history INCLUDING DEFAULTS INCLUDING CONSTRAINTS)"
            .formatted(table));
    // Rows arrive in time order, so BRIN costs about one page per day. It serves "done in the last
    // minute".
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

  /** Removes one batch of old rows from the default partition. */
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
