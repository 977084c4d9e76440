package dev.lockstep.job;

import dev.lockstep.fault.LockTimeout;
import dev.lockstep.job.ResultBatch.Written;
import dev.lockstep.job.Task.TaskEnd;
import dev.lockstep.shard.Lease;
import dev.lockstep.sql.Listening;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxAction;
import dev.lockstep.tx.TxOptions;
import dev.lockstep.tx.TxWork;
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
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transactions in which a worker writes results and marks; each ends its tasks in memory once
 * the database has answered. A job whose result is refused, or whose outcome is unknown, is read
 * again from the table. Thread-safe.
 */
final class ResultTransactions {
  private static final Logger log = LoggerFactory.getLogger(ResultTransactions.class);
  // Results wait only for edits of the same jobs, which are short. A result that waits longer
  // is tried again later.
  private static final Duration LOCK_TIMEOUT = Duration.ofMillis(100);

  private final Transactor transactor;
  private final TxOptions options;
  private final TxOptions hasty;
  private final TxOptions marking;
  private final JobsConfig config;
  private final JobIds ids;
  private final WorkerMemory memory;
  private final StragglerTable stragglers;

  ResultTransactions(
      Transactor transactor,
      JobsConfig config,
      JobIds ids,
      WorkerMemory memory,
      StragglerTable stragglers) {
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
    this.memory = memory;
    this.stragglers = stragglers;
  }

  /** Lets a handler complete its job in a transaction of its own. */
  JoinedCompletion joinedCompletion(Task task) {
    return new JoinedCompletion(transactor, hasty, config, ids, task);
  }

  /** Ends a task whose handler has committed its result. */
  void completedOutside(Task task) {
    memory.ended(List.of(new TaskEnd(task, -1, false)));
    tell(1, 0);
  }

  /**
   * Writes effects and result in one transaction, on this thread. Effects may change or cancel
   * their own job; the job is then committed as they leave it.
   *
   * @return false if the result is refused or another transaction has locked the job. The effects
   *     are then rolled back; the caller gives the job back
   */
  boolean completeWith(Task task, TxAction effects) {
    JobResult result = new JobResult(task, Outcome.done(), Duration.ZERO);
    Optional<TaskEnd> end;
    int stale = 1;
    try {
      end = tryComplete(result, effects, false);
      if (end.isEmpty()) {
        // Three causes: the shard was handed over meanwhile, so the job's own row is now its lease;
        // the effects change the job itself; or another transaction changed it, and then the
        // effects do not run again.
        end = tryComplete(result, effects, true);
      }
    } catch (JobLocked e) {
      // Not the job's fault: it runs again once the lock is released.
      end = Optional.empty();
      stale = 0;
    }
    if (end.isPresent()) {
      memory.ended(List.of(end.get()));
      tell(1, 0);
    } else {
      tell(0, stale);
    }
    return end.isPresent();
  }

  /**
   * @param locking locks the job before the effects run; if the result is still refused, the
   *     effects themselves have changed the job
   * @return empty if the result is refused
   * @throws JobLocked if another transaction has locked the job
   */
  private Optional<TaskEnd> tryComplete(JobResult result, TxAction effects, boolean locking) {
    Task task = result.task();
    TaskEnd done = new TaskEnd(task, -1, false);
    AtomicBoolean inEffects = new AtomicBoolean();
    try {
      return Optional.of(
          transactor.call(
              options,
              connection -> {
                inEffects.set(false);
                bound(connection, task.lease);
                ResultBatch batch =
                    new ResultBatch(connection, config, ids).waitingAtMost(hasty.lockTimeout());
                ResultFence fence = ResultFence.of(task);
                if (locking && !batch.lock(fence, result.row())) {
                  throw new Refused();
                }
                inEffects.set(true);
                effects.run(connection);
                inEffects.set(false);
                if (batch.write(inOrder(List.of(result)), true).refused().isEmpty()) {
                  return done;
                }
                if (!locking || batch.lock(fence, result.row())) {
                  throw new Refused();
                }
                return TaskEnd.refused(task);
              },
              // If the job still exists, nothing happened, or it was changed. If it is gone, this
              // transaction deleted it, since only this node's result could be accepted; or it was
              // cancelled, which overrides the result.
              connection ->
                  JobQueries.exists(connection, result.row().id())
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

  /** Another transaction has held the job's row for too long. Rolls the effects back. */
  private static final class JobLocked extends RuntimeException {
    private static final long serialVersionUID = 1L;

    JobLocked() {
      super("locked", null, false, false);
    }
  }

  /** Marks a job as running here before it begins. Returns false if this node may not run it. */
  boolean mark(Task task) {
    List<Task> one = List.of(task);
    return mark(one, connection -> new RowMarks(connection).mark(task.lease, one))
        .contains(task.row.id());
  }

  /** Marks long-running jobs; skips those that have ended or are locked. */
  void markRunning(Lease lease, List<Task> tasks) {
    List<Task> running = tasks.stream().filter(Task::isBegun).toList();
    if (!running.isEmpty()) {
      Set<JobId> unused =
          mark(
              running,
              connection ->
                  new RowMarks(connection)
                      .mark(lease, new RowLocks(connection, ids).unlocked(lease, running)));
    }
  }

  /**
   * Marks the running jobs of a shard that is being handed over; from then on the marks are their
   * leases. Jobs of lanes are recorded as stragglers too, since their rows may be gone before they
   * end.
   */
  void handOver(Lease lease, List<Task> tasks) {
    List<Task> running = tasks.stream().filter(Task::isBegun).toList();
    if (running.isEmpty()) {
      return;
    }
    try {
      Set<JobId> unused =
          mark(running, connection -> new RowMarks(connection).markForHandOver(lease, running));
      running.forEach(Task::handOver);
    } finally {
      stragglers.recorded(running);
      // A job that ended meanwhile did not know of its record; the reader removes it.
      memory.hint();
    }
  }

  /** Marks jobs; returns those it marked. */
  private Set<JobId> mark(List<Task> tasks, TxWork<Set<JobId>> statement) {
    tasks.forEach(Task::markSent);
    Set<JobId> marked = transactor.call(marking, statement);
    tasks.stream().filter(task -> marked.contains(task.row.id())).forEach(Task::markWritten);
    return marked;
  }

  /** Writes results and ends their tasks. */
  void write(List<JobResult> all) {
    end(all, tryWrite(all));
  }

  /**
   * Writes the results of unlocked jobs and ends their tasks.
   *
   * @return the locked ones, which are not written
   */
  List<JobResult> writeUnlocked(List<JobResult> all) {
    List<JobResult> locked = new ArrayList<>();
    List<JobResult> free = new ArrayList<>();
    Written written =
        transactor.call(
            hasty,
            connection -> {
              locked.clear();
              free.clear();
              Set<JobId> elsewhere =
                  new RowLocks(connection, ids)
                      .lockedWithKeys(
                          all.get(0).task().lease, all.stream().map(JobResult::row).toList());
              all.forEach(one -> (elsewhere.contains(one.row().id()) ? locked : free).add(one));
              return write(connection, free, true);
            });
    // Waiting for these locks must not stop the queue from reading more jobs.
    locked.forEach(one -> one.task().awaitLock());
    end(free, written);
    return locked;
  }

  private void end(List<JobResult> all, Written written) {
    // First, so that no more jobs of lost shards begin.
    written.lost().forEach(lease -> memory.removeShard(lease, true));
    Set<JobId> refused = written.refused();
    List<TaskEnd> ends = new ArrayList<>(all.size());
    int ran = 0;
    int stale = 0;
    for (JobResult one : all) {
      boolean no = !refused.isEmpty() && refused.contains(one.row().id());
      if (no) {
        log.info(
            "Result of job {} refused: the job was changed or its lease was lost", one.row().id());
      }
      ran += one.ran() ? 1 : 0;
      stale += no && one.ran() ? 1 : 0;
      ends.add(no ? TaskEnd.refused(one.task()) : new TaskEnd(one.task(), one.againMs(), false));
    }
    memory.ended(ends);
    tell(ran - stale, stale);
  }

  private void tell(int accepted, int stale) {
    Listening.tell(() -> config.listener().onResults(accepted, stale));
  }

  /**
   * Writes in bulk. If the bulk delete does not match exactly, rolls back and writes row by row.
   */
  private Written tryWrite(List<JobResult> all) {
    try {
      return transactor.call(hasty, connection -> write(connection, all, false));
    } catch (ResultBatch.RowsMoved e) {
      return transactor.call(hasty, connection -> write(connection, all, true));
    }
  }

  /** Drops results whose leases are lost, and returns the others. */
  List<JobResult> stillOurs(List<JobResult> all) {
    List<JobResult> ours = new ArrayList<>();
    List<TaskEnd> lost = new ArrayList<>();
    int stale = 0;
    for (JobResult one : all) {
      if (one.task().is(TaskState.LOST)) {
        lost.add(TaskEnd.refused(one.task()));
        stale += one.ran() ? 1 : 0;
      } else {
        ours.add(one);
      }
    }
    memory.ended(lost);
    tell(0, stale);
    return ours;
  }

  private Written write(Connection connection, List<JobResult> all, boolean each)
      throws SQLException {
    return new ResultBatch(connection, config, ids).write(inOrder(all), each);
  }

  /** Groups by fence, in shard order. */
  private static Map<ResultFence, List<JobResult>> inOrder(List<JobResult> all) {
    // Two maps, to avoid making a fence per result.
    Map<Lease, List<JobResult>> byEpoch = new HashMap<>();
    Map<Lease, List<JobResult>> byMark = new HashMap<>();
    for (JobResult one : all) {
      (one.task().is(TaskState.HANDED_OVER) ? byMark : byEpoch)
          .computeIfAbsent(one.task().lease, lease -> new ArrayList<>())
          .add(one);
    }
    Map<ResultFence, List<JobResult>> groups = new HashMap<>();
    byEpoch.forEach((lease, some) -> groups.put(new ResultFence(lease, false), some));
    byMark.forEach((lease, some) -> groups.put(new ResultFence(lease, true), some));
    Map<ResultFence, List<JobResult>> inOrder = new LinkedHashMap<>();
    groups.entrySet().stream()
        .sorted(
            Comparator.comparingInt(
                    (Map.Entry<ResultFence, ?> entry) -> entry.getKey().lease().shard())
                .thenComparing(entry -> entry.getKey().byMark()))
        .forEach(entry -> inOrder.put(entry.getKey(), entry.getValue()));
    return inOrder;
  }
}
