package dev.lockstep.job;

import dev.lockstep.job.JobReads.Questions;
import dev.lockstep.shard.Lease;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Holds a worker's state in memory: the jobs it has read, their lanes, and what it waits for. A
 * shard has one owner, so lane limits and lane order are decided here. One lock guards everything,
 * except polling a job from a queue without limits. The lock is never held during a database call.
 */
final class Board {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition reader = lock.newCondition();
  private final Map<String, QueueState> queues = new HashMap<>();
  private final Map<Integer, OwnedShard> shards = new HashMap<>();
  // Jobs still running here under a lease that was handed over or lost.
  private final Map<JobId, Task> left = new HashMap<>();
  private final Doubts doubts = new Doubts();
  private volatile boolean stopping;
  private boolean hinted = true;
  private long wakeNanos = System.nanoTime();

  Board(List<QueueConfig> configs) {
    configs.forEach(
        config -> queues.put(config.name(), new QueueState(config, lock.newCondition())));
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

  /** Shards whose away jobs are not known yet. */
  List<Lease> unexamined() {
    return leases(shard -> !shard.examined);
  }

  private List<Lease> leases(Predicate<OwnedShard> which) {
    return locked(() -> shards.values().stream().filter(which).map(shard -> shard.lease).toList());
  }

  /**
   * Makes shards readable: their away jobs are known.
   *
   * @param away the jobs of these shards that the database says are running
   */
  void examined(List<Lease> leases, List<Away> away) {
    locked(
        () -> {
          for (Lease lease : leases) {
            OwnedShard shard = owned(lease);
            if (shard != null) {
              // A job still running here under an earlier lease must not begin a second time.
              left.values().stream()
                  .filter(task -> task.row.id().shard() == lease.shard())
                  .forEach(task -> shard.away(Away.of(task.row, lease.member()), task));
              away.stream()
                  .filter(one -> one.id().shard() == lease.shard())
                  .filter(one -> !lease.member().equals(one.member()))
                  .forEach(one -> shard.away(one, null));
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
          shard.close(lost).forEach(task -> left.put(task.row.id(), task));
          List<Task> running =
              left.values().stream().filter(task -> task.lease == lease && !task.kept).toList();
          running.forEach(task -> task.lost |= lost);
          reader.signal();
          return running;
        });
  }

  /**
   * Decides what to read now. Jobs known from this moment on are compared with what the read
   * returns.
   */
  Questions startRead() {
    return locked(
        () -> {
          boolean wasHinted = hinted;
          hinted = false;
          wakeNanos = Long.MAX_VALUE;
          doubts.forgetOld();
          Questions questions = new Questions(new ArrayList<>(), new ArrayList<>());
          for (OwnedShard shard : shards.values()) {
            if (shard.isReadable()) {
              shard.forgetEndedHere();
              for (JobStream stream : shard.streams()) {
                stream.ask(shards.size()).ifPresent(questions.streams()::add);
                questions.lanes().addAll(stream.askLanes());
                stream.nextMs(wasHinted).ifPresent(this::wakeIn);
              }
            } else {
              // A shard that arrived since the examination is read next time.
              hinted |= !shard.examined;
            }
          }
          return questions;
        });
  }

  /** The shards with jobs away at other nodes. */
  List<Lease> withAway() {
    return leases(OwnedShard::hasAwayElsewhere);
  }

  /** Forgets the jobs of a shard that are away at other nodes, except these. */
  void stillAway(Lease lease, Set<JobId> ids) {
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
  void offer(Questions questions, JobReads.Look look) {
    locked(
        () -> {
          for (int i = 0; i < questions.streams().size(); i++) {
            JobStream.Ask ask = questions.streams().get(i);
            OwnedShard shard = owned(ask.stream().lease);
            if (shard != null) {
              shard.offer(ask, look.due().get(i), look.at(), doubts).ifPresent(this::wakeIn);
            }
          }
          for (int i = 0; i < questions.lanes().size(); i++) {
            JobStream.LaneAsk ask = questions.lanes().get(i);
            OwnedShard shard = owned(ask.stream().lease);
            if (shard != null) {
              shard.offerLane(ask, look.lanes().get(i), doubts).ifPresent(this::wakeIn);
            }
          }
        });
  }

  /** Marks jobs that this node has changed in a transaction that may or may not have committed. */
  void doubt(Collection<JobId> ids) {
    locked(
        () -> {
          for (JobId id : ids) {
            doubts.add(id);
            OwnedShard shard = shards.get(id.shard());
            if (shard != null) {
              shard.known(id).ifPresent(task -> task.doubtful = true);
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
      while (!stopping && !hinted && !isHungry()) {
        long now = System.nanoTime();
        long left =
            Math.min(
                pollNanos - now,
                wakeNanos == Long.MAX_VALUE ? pollMs * 1_000_000L : wakeNanos - now);
        if (left <= 0) {
          return true;
        }
        long unused = reader.awaitNanos(left);
      }
      return !stopping;
    } finally {
      lock.unlock();
    }
  }

  /** Whether a readable stream has more rows and wants them. */
  private boolean isHungry() {
    return shards.values().stream()
        .anyMatch(
            shard -> shard.isReadable() && shard.streams().stream().anyMatch(JobStream::isHungry));
  }

  /** Wakes the reader: a job may have become due. */
  void hint() {
    locked(
        () -> {
          hinted = true;
          reader.signal();
        });
  }

  /** Wakes the reader after this time at the latest. */
  void wakeIn(long ms) {
    locked(
        () -> {
          long at = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Math.min(ms, 86_400_000));
          if (wakeNanos == Long.MAX_VALUE || at - wakeNanos < 0) {
            wakeNanos = at;
            reader.signal();
          }
        });
  }

  // ---- the handlers' side

  /** The jobs that have run longer than this and are not marked yet. */
  Map<Lease, List<Task>> longRunning(long nanos) {
    return locked(
        () -> {
          Map<Lease, List<Task>> found = new HashMap<>();
          long since = System.nanoTime() - nanos;
          for (OwnedShard shard : shards.values()) {
            List<Task> tasks = shard.unmarkedSince(since);
            if (!tasks.isEmpty()) {
              found.put(shard.lease, tasks);
            }
          }
          return found;
        });
  }

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
      locked(reader::signal);
    }
    return true;
  }

  void settled(List<Task.Settled> all) {
    locked(
        () -> {
          all.forEach(this::settle);
          // There may be room to read more.
          reader.signal();
        });
  }

  private void settle(Task.Settled settled) {
    Task task = settled.task();
    if (task.is(Task.State.ENDED)) {
      return;
    }
    task.stream.state.settled(task);
    task.stream.end(task);
    if (settled.again() >= 0) {
      wakeIn(settled.again());
    }
    if (task.stream.closed) {
      if (left.remove(task.row.id(), task)) {
        hint();
      }
    } else if (task.stream.leave(settled, task.stream.state::add)) {
      hint();
    }
  }

  /** Begins no more jobs. */
  void stop() {
    locked(
        () -> {
          stopping = true;
          reader.signal();
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
