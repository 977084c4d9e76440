package dev.lockstep.job;

import dev.lockstep.job.JobReads.ReadPlan;
import dev.lockstep.job.Task.TaskEnd;
import dev.lockstep.shard.Lease;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a worker knows: the jobs it has read, their lanes, and when to read again. A shard has one
 * owner, so lane limits and lane order are decided here.
 *
 * <pre>
 *   WorkerMemory ─┬─ QueueState: ready jobs, pause, rate
 *                 ├─ OwnedShard ─┬─ JobStream (queue, priority): its jobs as Tasks, the pass
 *                 │              │    └─ Lanes ── LaneState
 *                 │              └─ stragglers under earlier leases, at any node
 *                 ├─ stragglers here, of shards handed over or lost
 *                 └─ RecentChanges made on this node
 * </pre>
 *
 * <p>{@link TaskState} has the life of a job. One lock guards everything, except polling a job from
 * a queue without limits. It is never held during a database call.
 */
final class WorkerMemory {
  private final ReentrantLock lock = new ReentrantLock();
  private final NextRead nextRead = new NextRead(lock.newCondition());
  private final Map<String, QueueState> queues = new HashMap<>();
  private final Map<Integer, OwnedShard> shards = new HashMap<>();
  // Running here under leases that were handed over or lost.
  private final Map<JobId, Task> stragglers = new HashMap<>();
  private final RecentChanges changes = new RecentChanges();
  private volatile boolean stopping;

  /**
   * @param observer receives the jobs' moves
   */
  WorkerMemory(List<QueueConfig> configs, TaskState.Observer observer) {
    configs.forEach(
        config -> queues.put(config.name(), new QueueState(config, lock.newCondition(), observer)));
  }

  private <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      return action.get();
    } finally {
      lock.unlock();
    }
  }

  private void locked(Runnable action) {
    lock.lock();
    try {
      action.run();
    } finally {
      lock.unlock();
    }
  }

  // ---- the reader's side

  /** Adds a shard, to be read once it is {@link #examined}. Ignores a lease that is over. */
  void addShard(Lease lease) {
    locked(
        () -> {
          if (!lease.isOver()) {
            shards.put(lease.shard(), new OwnedShard(lease, queues.values()));
            hint();
          }
        });
  }

  /** Shards whose stragglers are not known yet. */
  List<Lease> unexamined() {
    return leases(shard -> !shard.examined);
  }

  private List<Lease> leases(Predicate<OwnedShard> which) {
    return locked(() -> shards.values().stream().filter(which).map(shard -> shard.lease).toList());
  }

  /**
   * Makes shards readable: their stragglers are known.
   *
   * @param recorded the stragglers of these shards, as the database has them
   */
  void examined(List<Lease> leases, List<Straggler> recorded) {
    locked(
        () -> {
          for (Lease lease : leases) {
            OwnedShard shard = owned(lease);
            if (shard != null) {
              // Jobs still running here must not begin a second time.
              stragglers.values().stream()
                  .filter(task -> task.row.id().shard() == lease.shard())
                  .forEach(
                      task -> shard.addStraggler(Straggler.of(task.row, lease.member()), task));
              recorded.stream()
                  .filter(one -> one.id().shard() == lease.shard())
                  .filter(one -> !lease.member().equals(one.member()))
                  .forEach(one -> shard.addStraggler(one, null));
              shard.examined = true;
            }
          }
        });
  }

  boolean owns(Lease lease) {
    return locked(() -> owned(lease) != null);
  }

  private @Nullable OwnedShard owned(Lease lease) {
    OwnedShard shard = shards.get(lease.shard());
    return shard != null && shard.lease == lease ? shard : null;
  }

  /**
   * Removes a shard: gives back the jobs that have not begun and begins no others.
   *
   * @param lost whether the results of its running jobs will be refused
   * @return the running jobs
   */
  List<Task> removeShard(Lease lease, boolean lost) {
    return locked(
        () -> {
          OwnedShard shard = owned(lease);
          if (shard == null) {
            return List.of();
          }
          shards.remove(lease.shard());
          shard.close(lost).forEach(task -> stragglers.put(task.row.id(), task));
          List<Task> running =
              stragglers.values().stream()
                  .filter(task -> task.lease == lease && !task.is(TaskState.HANDED_OVER))
                  .toList();
          if (lost) {
            running.forEach(Task::lose);
          }
          nextRead.wake();
          return running;
        });
  }

  /**
   * Decides what to read now. Jobs known from this moment on are compared with what the read
   * returns.
   */
  ReadPlan startRead() {
    return locked(
        () -> {
          boolean hinted = nextRead.begin();
          changes.forgetOld();
          ReadPlan plan = new ReadPlan(new ArrayList<>(), new ArrayList<>());
          for (OwnedShard shard : shards.values()) {
            if (shard.isReadable()) {
              shard.forgetEndedHere();
              for (JobStream stream : shard.streams()) {
                stream.nextRead(shards.size()).ifPresent(plan.streams()::add);
                plan.lanes().addAll(stream.nextLaneReads());
                stream.nextMs(hinted).ifPresent(this::wakeIn);
              }
            } else if (!shard.examined) {
              // It arrived since the examination and is read next time.
              nextRead.hint();
            }
          }
          return plan;
        });
  }

  /** The shards with stragglers at other nodes. */
  List<Lease> withStragglersElsewhere() {
    return leases(OwnedShard::hasStragglersElsewhere);
  }

  /** Forgets the stragglers of a shard at other nodes, except these. */
  void keepStragglers(Lease lease, Set<JobId> ids) {
    locked(
        () -> {
          OwnedShard shard = owned(lease);
          if (shard != null && shard.forgetUnless(ids::contains)) {
            hint();
          }
        });
  }

  /**
   * Takes in what a read returned. All streams at once, so that a low-priority job does not begin
   * just because its stream came first; then the lanes, in the order they were read.
   */
  void offer(ReadPlan plan, JobReads.TableRead table) {
    locked(
        () -> {
          for (int i = 0; i < plan.streams().size(); i++) {
            JobStream.StreamRead read = plan.streams().get(i);
            OwnedShard shard = owned(read.stream().lease);
            if (shard != null) {
              shard.offer(read, table.due().get(i), table.at(), changes).ifPresent(this::wakeIn);
            }
          }
          for (int i = 0; i < plan.lanes().size(); i++) {
            JobStream.LaneRead read = plan.lanes().get(i);
            OwnedShard shard = owned(read.stream().lease);
            if (shard != null) {
              shard.offerLane(read, table.lanes().get(i), changes).ifPresent(this::wakeIn);
            }
          }
        });
  }

  /** Marks jobs that this node has changed in a transaction that may or may not have committed. */
  void changed(Collection<JobId> ids) {
    locked(
        () -> {
          for (JobId id : ids) {
            changes.add(id);
            OwnedShard shard = shards.get(id.shard());
            if (shard != null) {
              shard.known(id).ifPresent(task -> task.mayHaveChanged = true);
            }
          }
        });
  }

  void setQueue(String name, boolean paused, double rate) {
    locked(
        () -> {
          QueueState queue = queues.get(name);
          if (queue != null && queue.set(paused, rate)) {
            queue.work.signalAll();
            hint();
          }
        });
  }

  /** Waits until there is a reason to read. Returns false to stop. */
  boolean awaitReason(long pollMs) throws InterruptedException {
    lock.lock();
    try {
      long pollNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pollMs);
      while (!stopping && !nextRead.isHinted() && !needsRead()) {
        if (!nextRead.await(pollNanos)) {
          return true;
        }
      }
      return !stopping;
    } finally {
      lock.unlock();
    }
  }

  /** Whether a readable stream has more rows and wants them. */
  private boolean needsRead() {
    return shards.values().stream()
        .anyMatch(
            shard -> shard.isReadable() && shard.streams().stream().anyMatch(JobStream::needsRead));
  }

  /** A job may have become due. */
  void hint() {
    locked(nextRead::hint);
  }

  /** Reads after this time at the latest. */
  void wakeIn(long ms) {
    locked(() -> nextRead.in(ms));
  }

  /** The jobs that have run longer than this and are not marked yet. */
  Map<Lease, List<Task>> longRunning(long nanos) {
    return locked(
        () -> {
          Map<Lease, List<Task>> found = new HashMap<>();
          long since = System.nanoTime() - nanos;
          shards.values().forEach(shard -> found.put(shard.lease, shard.unmarkedSince(since)));
          found.values().removeIf(List::isEmpty);
          return found;
        });
  }

  // ---- the handlers' side

  /** Waits for a queue's next job. Empty when the worker stops. */
  Optional<Task> next(QueueState queue) throws InterruptedException {
    while (!stopping) {
      Task task = queue.isUnlimited() ? queue.poll() : null;
      if (task == null) {
        task = await(queue);
      }
      if (task != null && begin(queue, task)) {
        return Optional.of(task);
      }
    }
    return Optional.empty();
  }

  /** Waits for a job that may begin; null means try again. */
  private @Nullable Task await(QueueState queue) throws InterruptedException {
    lock.lock();
    try {
      while (!stopping) {
        if (queue.isPaused() || !queue.hasReady()) {
          queue.work.await();
          continue;
        }
        long wait = queue.nanosUntilStart();
        if (wait > 0) {
          long unused = queue.work.awaitNanos(wait);
          continue;
        }
        return queue.poll();
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  private boolean begin(QueueState queue, Task task) {
    if (!task.lease.isLive()) {
      locked(() -> task.stream.release(task));
      return false;
    }
    if (!task.begin()) {
      return false;
    }
    if (queue.begun(task)) {
      locked(nextRead::wake);
    }
    return true;
  }

  /** Ends tasks, and frees their places. */
  void ended(List<TaskEnd> ends) {
    locked(
        () -> {
          ends.forEach(this::end);
          // There may be room to read more.
          nextRead.wake();
        });
  }

  private void end(TaskEnd end) {
    Task task = end.task();
    if (task.is(TaskState.ENDED)) {
      return;
    }
    task.stream.end(task);
    if (end.againMs() >= 0) {
      wakeIn(end.againMs());
    }
    if (task.stream.closed) {
      if (stragglers.remove(task.row.id(), task)) {
        hint();
      }
    } else if (task.stream.leave(end, task.stream.state::add)) {
      hint();
    }
  }

  /** Begins no more jobs. */
  void stop() {
    locked(
        () -> {
          stopping = true;
          nextRead.wake();
          queues.values().forEach(queue -> queue.work.signalAll());
        });
  }

  int shardCount() {
    return locked(shards::size);
  }

  QueueState queue(String name) {
    QueueState queue = queues.get(name);
    if (queue == null) {
      throw new IllegalStateException("This worker does not serve queue " + name);
    }
    return queue;
  }
}
