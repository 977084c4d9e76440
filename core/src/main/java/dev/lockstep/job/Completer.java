package dev.lockstep.job;

import dev.lockstep.job.Results.Place;
import dev.lockstep.job.Results.Written;
import dev.lockstep.job.Task.Settled;
import dev.lockstep.shard.Lease;
import dev.lockstep.tx.Listening;
import dev.lockstep.tx.LockTimeout;
import dev.lockstep.tx.RoundTrip;
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
 * Writes results, in batches. Two threads do, each for half of the shards, so that one has
 * something to say to the server while the other waits for its COMMIT to be on disk; all of a
 * shard's results are written by one of them, in order. Results of jobs that bring effects of their
 * own are written by the handler's thread instead, each in its own transaction.
 *
 * <p>A result that is refused, or whose outcome is unknown, says nothing of the job but that it has
 * to be read again.
 */
final class Completer {
  private static final Logger log = LoggerFactory.getLogger(Completer.class);
  // Results wait only for edits of the very jobs, which are short; what lasts is put aside.
  private static final Duration LOCK_TIMEOUT = Duration.ofMillis(100);
  private static final int WRITERS = 2;
  // Jobs that lie on one page are often of neighbouring shards: let one writer have them.
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
   * @param died told when a writer ends that should not
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
        transactor.defaults().withLabel(JobsConfig.RESULT_TRANSACTION).withPointLookups();
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

  /** Ends when all results so far are written and the jobs are marked as this node's. */
  CompletableFuture<Void> keep(Lease lease, List<Task> tasks) {
    CompletableFuture<Void> kept = new CompletableFuture<>();
    writerOf(lease).add(new ResultsWriter.Keep(lease, tasks, kept));
    return kept;
  }

  /** Has jobs marked as running that have been for long, in their turn. */
  void markLater(Lease lease, List<Task> tasks) {
    writerOf(lease).add(new ResultsWriter.Mark(lease, tasks));
  }

  /** What is wrong with those who write, if anything is. */
  List<String> troubles() {
    return writers.stream().flatMap(writer -> writer.trouble().stream()).toList();
  }

  /**
   * Writes effects and result in one transaction, on this thread. Effects that change or cancel
   * their own job have the last word: it is committed as they leave it.
   *
   * @return false if the result is refused, or somebody has locked the job: nothing of the effects
   *     is left then, and the job is read again
   */
  boolean completeWith(Task task, TxAction effects) {
    Ended ended = new Ended(task, Outcome.done(), Duration.ZERO);
    Optional<Settled> settled;
    int stale = 1;
    try {
      settled = tryComplete(ended, effects, false);
      if (settled.isEmpty()) {
        // Its shard was handed over in between, and now its own row is its lease; or its effects
        // change the job itself; or somebody else has, and then they are not run again.
        settled = tryComplete(ended, effects, true);
      }
    } catch (JobLocked e) {
      // No fault of the job's own: it runs again when the lock is gone.
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
   * @param holding locks the job before the effects run: if its result is refused nevertheless, it
   *     is they who have changed it
   * @return empty if the result is refused
   * @throws JobLocked if somebody else has locked the job
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
              // The job is there: nothing has happened, or it is found changed. It is gone: this
              // did it, since nobody else could have had the result accepted; or somebody cancelled
              // it, who had the last word.
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

  /** Should this process stop here, what the effects lock is locked no longer than a lease. */
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

  /** Somebody has locked the job, in a transaction that takes long; the effects are rolled back. */
  private static final class JobLocked extends RuntimeException {
    private static final long serialVersionUID = 1L;

    JobLocked() {
      super("locked", null, false, false);
    }
  }

  /** Marks a job as running here before it begins; false if it is not this node's to run. */
  boolean mark(Task task) {
    return mark(List.of(task), (results, locks) -> results.keep(task.lease, List.of(task)))
        .contains(task.row.id());
  }

  /** Marks jobs that run for long; those that have ended or are locked are passed over. */
  void markRunning(Lease lease, List<Task> tasks) {
    List<Task> running = tasks.stream().filter(task -> task.is(Task.State.RUNNING)).toList();
    if (!running.isEmpty()) {
      mark(running, (results, locks) -> results.keep(lease, locks.unlocked(lease, running)));
    }
  }

  /** How jobs are marked; says which were. */
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
   * Marks jobs of a shard that is handed over; from then on their rows are their leases. Those of
   * lanes are recorded, too: their rows may be gone before they end, or are already.
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
      // One that has ended meanwhile did not know of its record.
      board.hint();
    }
  }

  /** Writes results, and tells the board. */
  void writeAndSettle(List<Ended> all) {
    settle(all, write(all));
  }

  /**
   * Writes the results that nobody's lock is in the way of, and tells the board.
   *
   * @return the others, of which nothing is written
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
    // Who is behind with these should not keep others from being read.
    locked.forEach(ended -> ended.task().stream.state.settled(ended.task()));
    settle(free, written);
    return locked;
  }

  private void settle(List<Ended> all, Written written) {
    // First, so that nothing more of them begins.
    written.lost().forEach(lease -> board.removeShard(lease, true));
    Set<JobId> refused = written.refused();
    List<Settled> settled = new ArrayList<>(all.size());
    int ran = 0;
    int stale = 0;
    for (Ended ended : all) {
      boolean no = !refused.isEmpty() && refused.contains(ended.row().id());
      if (no) {
        log.info("The result of job {} is refused: changed, or no longer ours", ended.row().id());
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

  /** In bulk; where that does not add up, again, and row by row. */
  private Written write(List<Ended> all) {
    try {
      return transactor.call(hasty, connection -> write(connection, all, false));
    } catch (Results.DoesNotAddUp e) {
      return transactor.call(hasty, connection -> write(connection, all, true));
    }
  }

  /** Without those whose results would be refused, which are forgotten. */
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

  /** Shards in order, each with its own fence. */
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

  /** Writes what is there and ends. */
  void close(Duration timeout) {
    writers.forEach(ResultsWriter::stop);
    long end = System.nanoTime() + timeout.toNanos();
    writers.forEach(writer -> writer.join(end));
  }
}
