package dev.lockstep.job;

import dev.lockstep.fault.LockTimeout;
import dev.lockstep.job.Results.Place;
import dev.lockstep.job.Results.Written;
import dev.lockstep.job.Task.Settled;
import dev.lockstep.shard.Lease;
import dev.lockstep.sql.Listening;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxAction;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes results in batches. Two threads share the shards, so that one sends while the other waits
 * for its COMMIT to reach the disk. One thread writes all results of a shard, in order. The result
 * of a job with effects is written by the handler's thread instead, in its own transaction.
 *
 * <p>A job whose result is refused, or whose outcome is unknown, is read again from the table.
 */
final class Completer {
  private static final Logger log = LoggerFactory.getLogger(Completer.class);
  // Results wait only for edits of the same jobs, which are short. A result that waits longer is
  // put aside.
  private static final Duration LOCK_TIMEOUT = Duration.ofMillis(100);
  private static final int WRITERS = 2;
  // Jobs on one page often belong to neighbouring shards; one writer takes them together.
  private static final int NEIGHBOURS = 4;

  private final Transactor transactor;
  private final TxOptions options;
  private final TxOptions hasty;
  private final TxOptions marking;
  private final JobsConfig config;
  private final JobIds ids;
  private final Board board;
  private final AwayTable away;
  private final List<ResultsWriter> writers = new ArrayList<>();

  /**
   * @param died called when a writer ends unexpectedly
   */
  Completer(
      Transactor transactor,
      JobsConfig config,
      JobIds ids,
      Board board,
      AwayTable away,
      int batch,
      Runnable died) {
    this.transactor = transactor;
    this.options =
        transactor.defaults().withLabel(JobsConfig.RESULT_TRANSACTION).withIndexLookups();
    this.hasty =
        LOCK_TIMEOUT.compareTo(options.lockTimeout()) < 0
            ? options.withLockTimeout(LOCK_TIMEOUT)
            : options;
    this.marking = hasty.withLabel(JobsConfig.MARK_TRANSACTION);
    this.config = config;
    this.ids = ids;
    this.board = board;
    this.away = away;
    for (int i = 0; i < WRITERS; i++) {
      writers.add(new ResultsWriter(this, i, batch, died));
    }
  }

  void start() {
    writers.forEach(ResultsWriter::start);
  }

  private ResultsWriter writerOf(Lease lease) {
    return writers.get(lease.shard() / NEIGHBOURS % WRITERS);
  }

  void add(Ended ended) {
    writerOf(ended.task().lease).add(ended);
  }

  /** Completes when all results so far are written and the jobs are marked as this node's. */
  CompletableFuture<Void> keep(Lease lease, List<Task> tasks) {
    CompletableFuture<Void> kept = new CompletableFuture<>();
    writerOf(lease).add(new ResultsWriter.Keep(lease, tasks, kept));
    return kept;
  }

  /** Queues long-running jobs to be marked as running. */
  void markLater(Lease lease, List<Task> tasks) {
    writerOf(lease).add(new ResultsWriter.Mark(lease, tasks));
  }

  /** The writers' current problems. */
  List<String> troubles() {
    return writers.stream().flatMap(writer -> writer.trouble().stream()).toList();
  }

  /**
   * Writes effects and result in one transaction, on this thread. Effects may change or cancel
   * their own job; the job is then committed as they leave it.
   *
   * @return false if the result is refused or another transaction has locked the job. The effects
   *     are then rolled back and the job is read again
   */
  boolean completeWith(Task task, TxAction effects) {
    Ended ended = new Ended(task, Outcome.done(), Duration.ZERO);
    Optional<Settled> settled;
    int stale = 1;
    try {
      settled = tryComplete(ended, effects, false);
      if (settled.isEmpty()) {
        // Three causes: the shard was handed over meanwhile, so the job's own row is now its lease;
        // the effects change the job itself; or another transaction changed it, and then the
        // effects do not run again.
        settled = tryComplete(ended, effects, true);
      }
    } catch (JobLocked e) {
      // Not the job's fault: it runs again once the lock is released.
      settled = Optional.empty();
      stale = 0;
    }
    if (settled.isPresent()) {
      board.settled(List.of(settled.get()));
      tell(1, 0);
    } else {
      add(Ended.givenBack(task));
      tell(0, stale);
    }
    return settled.isPresent();
  }

  /**
   * @param holding locks the job before the effects run; if the result is still refused, the
   *     effects themselves have changed the job
   * @return empty if the result is refused
   * @throws JobLocked if another transaction has locked the job
   */
  private Optional<Settled> tryComplete(Ended ended, TxAction effects, boolean holding) {
    Task task = ended.task();
    Settled done = new Settled(task, -1, false);
    AtomicBoolean inEffects = new AtomicBoolean();
    try {
      return Optional.of(
          transactor.call(
              options,
              connection -> {
                inEffects.set(false);
                bound(connection, task.lease);
                Results results =
                    new Results(connection, config, ids).waitingAtMost(hasty.lockTimeout());
                Place place = Place.of(task);
                if (holding && !results.hold(place, ended.row())) {
                  throw new Refused();
                }
                inEffects.set(true);
                effects.run(connection);
                inEffects.set(false);
                if (results.write(inOrder(List.of(ended)), true).refused().isEmpty()) {
                  return done;
                }
                if (!holding || results.hold(place, ended.row())) {
                  throw new Refused();
                }
                return Settled.refused(task);
              },
              // If the job still exists, nothing happened, or it was changed. If it is gone, this
              // transaction deleted it, since only this node's result could be accepted; or it was
              // cancelled, which overrides the result.
              connection ->
                  JobQueries.exists(connection, ended.row().id())
                      ? Optional.empty()
                      : Optional.of(done)));
    } catch (Refused e) {
      return Optional.empty();
    } catch (LockTimeout e) {
      throw inEffects.get() ? e : new JobLocked();
    }
  }

  /** If this process freezes here, the effects' locks last no longer than a lease. */
  private static void bound(Connection connection, Lease lease) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    lease.bound(trip);
    trip.send();
  }

  /** Rolls the effects back. */
  private static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Refused() {
      super("refused", null, false, false);
    }
  }

  /** Another transaction holds the job's row for long. Rolls the effects back. */
  private static final class JobLocked extends RuntimeException {
    private static final long serialVersionUID = 1L;

    JobLocked() {
      super("locked", null, false, false);
    }
  }

  /** Marks a job as running here before it begins. Returns false if this node may not run it. */
  boolean mark(Task task) {
    return mark(List.of(task), (results, locks) -> results.keep(task.lease, List.of(task)))
        .contains(task.row.id());
  }

  /** Marks long-running jobs; skips those that have ended or are locked. */
  void markRunning(Lease lease, List<Task> tasks) {
    List<Task> running = tasks.stream().filter(task -> task.is(Task.State.RUNNING)).toList();
    if (!running.isEmpty()) {
      mark(running, (results, locks) -> results.keep(lease, locks.unlocked(lease, running)));
    }
  }

  /** Marks jobs and returns the ids of those it marked. */
  @FunctionalInterface
  private interface Marking {
    Set<JobId> by(Results results, RowLocks locks) throws SQLException;
  }

  private Set<JobId> mark(List<Task> tasks, Marking how) {
    tasks.forEach(task -> task.mayBeMarked = true);
    Set<JobId> marked =
        transactor.call(
            marking,
            connection ->
                how.by(new Results(connection, config, ids), new RowLocks(connection, ids)));
    tasks.stream()
        .filter(task -> marked.contains(task.row.id()))
        .forEach(task -> task.marked = true);
    return marked;
  }

  /**
   * Marks the running jobs of a shard that is being handed over; from then on their rows are their
   * leases. Jobs of lanes are recorded in {@code job_away} too, since their rows may be gone before
   * they end.
   */
  void keepNow(Lease lease, List<Task> tasks) {
    List<Task> running = tasks.stream().filter(task -> task.is(Task.State.RUNNING)).toList();
    if (running.isEmpty()) {
      return;
    }
    try {
      mark(running, (results, locks) -> results.keepAway(lease, running));
      running.forEach(task -> task.kept = true);
    } finally {
      away.recorded(running);
      // A job that ended meanwhile did not know of its record; the reader removes it.
      board.hint();
    }
  }

  /** Writes results and settles them on the board. */
  void writeAndSettle(List<Ended> all) {
    settle(all, write(all));
  }

  /**
   * Writes the results of unlocked jobs and settles them on the board.
   *
   * @return the others; nothing of them is written
   */
  List<Ended> writeUnlocked(List<Ended> all) {
    List<Ended> locked = new ArrayList<>();
    List<Ended> free = new ArrayList<>();
    Written written =
        transactor.call(
            hasty,
            connection -> {
              locked.clear();
              free.clear();
              Set<JobId> elsewhere =
                  new RowLocks(connection, ids)
                      .lockedWithKeys(
                          all.get(0).task().lease, all.stream().map(Ended::row).toList());
              all.forEach(
                  ended -> (elsewhere.contains(ended.row().id()) ? locked : free).add(ended));
              return write(connection, free, true);
            });
    // Waiting for these locks must not stop the queue from reading more jobs.
    locked.forEach(ended -> ended.task().stream.state.settled(ended.task()));
    settle(free, written);
    return locked;
  }

  private void settle(List<Ended> all, Written written) {
    // First, so that no more jobs of lost shards begin.
    written.lost().forEach(lease -> board.removeShard(lease, true));
    Set<JobId> refused = written.refused();
    List<Settled> settled = new ArrayList<>(all.size());
    int ran = 0;
    int stale = 0;
    for (Ended ended : all) {
      boolean no = !refused.isEmpty() && refused.contains(ended.row().id());
      if (no) {
        log.info(
            "Result of job {} refused: the job was changed or its lease was lost",
            ended.row().id());
      }
      ran += ended.ran() ? 1 : 0;
      stale += no && ended.ran() ? 1 : 0;
      settled.add(
          no ? Settled.refused(ended.task()) : new Settled(ended.task(), ended.againMs(), false));
    }
    board.settled(settled);
    tell(ran - stale, stale);
  }

  private void tell(int accepted, int stale) {
    Listening.tell(() -> config.listener().onResults(accepted, stale));
  }

  /**
   * Writes in bulk. If the bulk delete does not match exactly, rolls back and writes row by row.
   */
  private Written write(List<Ended> all) {
    try {
      return transactor.call(hasty, connection -> write(connection, all, false));
    } catch (Results.DoesNotAddUp e) {
      return transactor.call(hasty, connection -> write(connection, all, true));
    }
  }

  /** Drops results whose leases are lost, and returns the others. */
  List<Ended> stillOurs(List<Ended> all) {
    List<Ended> ours = new ArrayList<>();
    List<Settled> lost = new ArrayList<>();
    int stale = 0;
    for (Ended ended : all) {
      if (ended.task().lost) {
        lost.add(Settled.refused(ended.task()));
        stale += ended.ran() ? 1 : 0;
      } else {
        ours.add(ended);
      }
    }
    board.settled(lost);
    tell(0, stale);
    return ours;
  }

  private Written write(Connection connection, List<Ended> all, boolean each) throws SQLException {
    return new Results(connection, config, ids).write(inOrder(all), each);
  }

  /** Groups by shard and fence, in shard order. */
  private static Map<Place, List<Ended>> inOrder(List<Ended> all) {
    Map<Lease, List<Ended>> owned = new HashMap<>();
    Map<Lease, List<Ended>> kept = new HashMap<>();
    for (Ended ended : all) {
      (ended.task().kept ? kept : owned)
          .computeIfAbsent(ended.task().lease, lease -> new ArrayList<>())
          .add(ended);
    }
    Map<Place, List<Ended>> places = new HashMap<>();
    owned.forEach((lease, some) -> places.put(new Place(lease, false), some));
    kept.forEach((lease, some) -> places.put(new Place(lease, true), some));
    Map<Place, List<Ended>> inOrder = new LinkedHashMap<>();
    places.entrySet().stream()
        .sorted(
            Comparator.comparingInt((Map.Entry<Place, ?> entry) -> entry.getKey().lease().shard())
                .thenComparing(entry -> entry.getKey().kept()))
        .forEach(entry -> inOrder.put(entry.getKey(), entry.getValue()));
    return inOrder;
  }

  /** Writes what is queued, then stops, within the timeout. */
  void close(Duration timeout) {
    writers.forEach(ResultsWriter::stop);
    long end = System.nanoTime() + timeout.toNanos();
    writers.forEach(writer -> writer.join(end));
  }
}
