package dev.lockstep.job;

import dev.lockstep.job.EditResult.Edited;
import dev.lockstep.job.EditResult.Gone;
import dev.lockstep.job.EditResult.Stale;
import dev.lockstep.job.Recurrence.CatchUp;
import dev.lockstep.job.Recurrence.Due;
import dev.lockstep.job.Recurrence.Occurrence;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs recurring jobs: each occurrence becomes one job, exactly once, over all nodes.
 *
 * <p>A <em>tick</em> is a job that enqueues a schedule's due occurrences and the next tick. A
 * worker runs ticks if it serves {@link #QUEUE} and has {@link #handlers}. Methods that take a
 * connection work in the caller's transaction, and the caller commits. Thread-safe.
 */
public final class Schedules {
  /** The queue of the ticks. */
  public static final String QUEUE = "lockstep-schedules";

  public static final int REMOVAL_BATCH = 1_000;

  private static final Logger log = LoggerFactory.getLogger(Schedules.class);
  private static final String TICK = "lockstep-tick";
  // An occurrence later than this counts as missed.
  private static final Duration ON_TIME = Duration.ofMinutes(1);
  // Missed occurrences to catch up on, at most: one statement's worth. Earlier ones are dropped.
  private static final int MAX_CAUGHT_UP = 1_000;
  private static final int TICK_ATTEMPTS = 100;

  private final Transactor transactor;
  private final JobIds ids;
  private final Enqueuer enqueuer;
  private final Function<Connection, JobChanges> changes;
  private final Function<String, Recurrence> reader;
  private final BiFunction<NewJob, Instant, NewJob> occurrence;
  private final int shards;

  Schedules(
      Transactor transactor,
      JobIds ids,
      Enqueuer enqueuer,
      Function<Connection, JobChanges> changes,
      Function<String, Recurrence> reader,
      BiFunction<NewJob, Instant, NewJob> occurrence,
      int shards) {
    this.transactor = transactor;
    this.ids = ids;
    this.enqueuer = enqueuer;
    this.changes = changes;
    this.reader = reader;
    this.occurrence = occurrence;
    this.shards = shards;
  }

  /** Adds the handler that runs ticks. */
  public Handlers handlers(Handlers handlers) {
    return handlers.on(
        TICK,
        (payload, job) -> Outcome.Done.writing(connection -> tick(connection, Tick.read(payload))));
  }

  /**
   * Creates a schedule. Its first occurrence is the first after now. The caller commits.
   *
   * @throws IllegalArgumentException if the reader cannot parse the spec
   */
  public Schedule create(Connection connection, NewSchedule schedule) {
    return create(
        connection, transactor.join(connection, c -> idAt(new ScheduleTable(c).now())), schedule);
  }

  /**
   * Returns an id for a schedule whose job must know it. The id carries the database's time: lists
   * are in id order, and nodes' clocks differ.
   */
  public ScheduleId nextId() {
    return idAt(
        transactor.call(
            transactor.defaults().asReadOnly(), connection -> new ScheduleTable(connection).now()));
  }

  private ScheduleId idAt(Instant now) {
    return new ScheduleId(ids.at(now).value());
  }

  /** Creates a schedule with an id from {@link #nextId}, to be used once. The caller commits. */
  public Schedule create(Connection connection, ScheduleId id, NewSchedule schedule) {
    Recurrence recurrence = reader.apply(schedule.spec());
    enqueuer.requirePayload(schedule.job().payload());
    return transactor.join(
        connection,
        c -> {
          ScheduleTable table = new ScheduleTable(c);
          Instant now = table.now();
          table.insert(id, schedule, now);
          Optional<Occurrence> next = recurrence.next(now);
          setNext(c, id, 1, new Progress(now, Optional.empty()), next);
          return new Schedule(id, schedule, next.map(Occurrence::at), 1);
        });
  }

  public Optional<Schedule> find(ScheduleId id) {
    return transactor.call(
        transactor.defaults().asReadOnly(),
        c -> new ScheduleTable(c).find(id).map(ScheduleRow::schedule));
  }

  /** Lists schedules, the newest first. */
  public List<Schedule> list(Optional<ScheduleId> before, int limit) {
    return list(before, limit, Long.MAX_VALUE);
  }

  /**
   * As {@link #list(Optional, int)}, but stops after the schedule with which the payloads reach a
   * size in bytes.
   */
  public List<Schedule> list(Optional<ScheduleId> before, int limit, long maxBytes) {
    if (limit < 0 || limit > Jobs.MAX_PAGE) {
      throw new IllegalArgumentException(
          "A call lists at most %d schedules; use several calls".formatted(Jobs.MAX_PAGE));
    }
    return transactor.call(
        transactor.defaults().asReadOnly(),
        c -> new ScheduleTable(c).list(shards, before, limit, maxBytes));
  }

  /** Returns a schedule's next times; empty if there is no such schedule. */
  public Optional<List<Instant>> preview(ScheduleId id, int count) {
    return transactor.call(
        transactor.defaults().asReadOnly(),
        c ->
            new ScheduleTable(c)
                .find(id)
                .map(row -> recurrence(row).preview(beforeNext(row), count)));
  }

  /** Just before the next run: an edit may have skipped earlier matching times. */
  private static Instant beforeNext(ScheduleRow row) {
    return row.schedule().nextAt().map(at -> at.minusNanos(1_000)).orElse(row.now());
  }

  /**
   * Replaces a schedule's content. Occurrences already due are enqueued first, under the old
   * content and catch-up policy, even while {@link #QUEUE} is paused. The next run is the first
   * after now by the new content, skipping the period that ran last: a birthday moved within the
   * year, or a day that begins again in another zone, does not run twice. The caller commits.
   */
  public EditResult change(
      Connection connection, ScheduleId id, OptionalInt version, NewSchedule content) {
    Recurrence recurrence = reader.apply(content.spec());
    enqueuer.requirePayload(content.job().payload());
    return edit(
        connection,
        id,
        version,
        (c, row) -> {
          Progress progress = runDueBeforeEdit(c, row);
          int next = row.schedule().version() + 1;
          new ScheduleTable(c).update(id, content, next);
          Optional<Occurrence> at = recurrence.next(progress.doneUntil());
          while (at.isPresent()
              && progress.lastPeriod().equals(Optional.of(period(recurrence, at.get())))) {
            at = recurrence.next(at.get().at());
          }
          setNext(c, id, next, progress, at);
        });
  }

  /**
   * Removes a schedule. Jobs it has enqueued stay; due occurrences that are not jobs yet are
   * dropped. The caller commits.
   */
  public EditResult delete(Connection connection, ScheduleId id, OptionalInt version) {
    return edit(connection, id, version, (c, row) -> new ScheduleTable(c).delete(id));
  }

  /**
   * Removes schedules that never run again and last ran longer ago than this, at most {@link
   * #REMOVAL_BATCH}. The caller commits.
   *
   * @return how many
   */
  public int removeEnded(Connection connection, Duration age) {
    return transactor.join(connection, c -> new ScheduleTable(c).removeEnded(age, REMOVAL_BATCH));
  }

  @FunctionalInterface
  private interface Edit {
    void make(Connection connection, ScheduleRow row) throws SQLException;
  }

  /** Locks the schedule's row before its tick's, as a running tick does. */
  private EditResult edit(Connection connection, ScheduleId id, OptionalInt version, Edit edit) {
    return transactor.join(
        connection,
        c -> {
          Optional<ScheduleRow> row = new ScheduleTable(c).lock(id);
          if (row.isEmpty()) {
            return new Gone();
          }
          int current = row.get().schedule().version();
          if (version.isPresent() && version.getAsInt() != current) {
            return new Stale(current);
          }
          if (row.get().tick().isPresent()) {
            changes.apply(c).endTick(row.get().tick().get());
          }
          edit.make(c, row.get());
          return new Edited(current + 1);
        });
  }

  /** The schedule whose tick this job is; empty if the job is no tick. */
  static Optional<ScheduleId> ofTick(String queue, String kind, String payload) {
    return queue.equals(QUEUE) && kind.equals(TICK)
        ? Optional.of(Tick.read(payload).schedule())
        : Optional.empty();
  }

  /** The payload of a tick: a schedule and its version. */
  private record Tick(ScheduleId schedule, int version) {
    static Tick read(String payload) {
      String[] parts = payload.substring(1, payload.length() - 1).split(" ", 2);
      return new Tick(ScheduleId.of(parts[0]), Integer.parseInt(parts[1]));
    }

    String payload() {
      return "\"%s %d\"".formatted(schedule, version);
    }
  }

  /**
   * Runs in the transaction that completes the tick: its jobs are enqueued once, and the next tick
   * exists when this one is gone.
   */
  private void tick(Connection connection, Tick tick) throws SQLException {
    Optional<ScheduleRow> found = new ScheduleTable(connection).lock(tick.schedule());
    if (found.isEmpty() || found.get().schedule().version() != tick.version()) {
      return;
    }
    ScheduleRow row = found.get();
    Recurrence recurrence = recurrence(row);
    Due due = due(row, recurrence);
    Progress progress = run(connection, row, recurrence, due);
    setNext(connection, tick.schedule(), tick.version(), progress, due.next());
  }

  /** How far occurrences are done, and which period ran last. */
  private record Progress(Instant doneUntil, Optional<String> lastPeriod) {
    static Progress of(ScheduleRow row) {
      // A transaction that began before the last run has an earlier now().
      return new Progress(max(row.doneUntil(), row.now()), Optional.ofNullable(row.lastPeriod()));
    }
  }

  private Progress runDueBeforeEdit(Connection connection, ScheduleRow row) throws SQLException {
    Optional<Instant> next = row.schedule().nextAt();
    if (next.isEmpty() || next.get().isAfter(row.now())) {
      return Progress.of(row);
    }
    Recurrence recurrence;
    try {
      recurrence = recurrence(row);
    } catch (RuntimeException e) {
      // The tick fails for the same reason, and this edit may fix it.
      log.warn(
          "Schedule {} cannot be read; changing it without its due runs", row.schedule().id(), e);
      return Progress.of(row);
    }
    return run(connection, row, recurrence, due(row, recurrence));
  }

  private static Due due(ScheduleRow row, Recurrence recurrence) {
    // Start just before the next run, which an edit may have chosen.
    Instant after = max(row.doneUntil(), beforeNext(row));
    CatchUp catchUp = row.schedule().content().catchUp();
    return catchUp == CatchUp.NONE
        ? recurrence.due(
            max(after, row.now().minus(ON_TIME)), row.now(), CatchUp.ALL, MAX_CAUGHT_UP)
        : recurrence.due(after, row.now(), catchUp, MAX_CAUGHT_UP);
  }

  /** Enqueues the jobs of due occurrences, in order. */
  private Progress run(Connection connection, ScheduleRow row, Recurrence recurrence, Due due)
      throws SQLException {
    Progress before = Progress.of(row);
    if (due.run().isEmpty()) {
      return before;
    }
    NewJob job = row.schedule().content().job();
    enqueuer.enqueue(
        connection,
        due.run().stream().map(one -> occurrence.apply(job, one.at()).at(one.at())).toList());
    Occurrence last = due.run().get(due.run().size() - 1);
    return new Progress(before.doneUntil(), Optional.of(period(recurrence, last)));
  }

  private static String period(Recurrence recurrence, Occurrence occurrence) {
    return recurrence.times().period(occurrence.local());
  }

  private void setNext(
      Connection connection,
      ScheduleId id,
      int version,
      Progress progress,
      Optional<Occurrence> next)
      throws SQLException {
    Optional<JobId> tick = Optional.empty();
    if (next.isPresent()) {
      NewJob job =
          NewJob.of(QUEUE, TICK, new Tick(id, version).payload())
              .at(next.get().at())
              .withMaxAttempts(TICK_ATTEMPTS);
      tick =
          Optional.of(
              ((EnqueueResult.Created) enqueuer.enqueue(connection, List.of(job)).get(0)).id());
    }
    new ScheduleTable(connection)
        .setNext(id, progress.doneUntil(), progress.lastPeriod(), next.map(Occurrence::at), tick);
  }

  private Recurrence recurrence(ScheduleRow row) {
    return reader.apply(row.schedule().content().spec());
  }

  private static Instant max(Instant a, Instant b) {
    return a.isAfter(b) ? a : b;
  }
}
