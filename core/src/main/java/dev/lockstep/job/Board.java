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
 * What a worker has in memory: the jobs it has read, their lanes, and what it waits for. Since a
 * shard has one owner, this is where "at most so many at a time" and "in order" are decided. One
 * lock guards it all, but for a job that is taken from a queue that nothing limits; it is never
 * held over a question to the database.
 */
final class Board {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition reader = lock.newCondition();
  private final Map<String, QueueState> queues = new HashMap<>();
  private final Map<Integer, OwnedShard> shards = new HashMap<>();
  // What runs here under a lease that was handed over, or lost.
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

  /** Begins to read a shard, as soon as it is {@link #examined}; not under a lease that is over. */
  void addShard(Lease lease) {
    locked(
        () -> {
          if (!lease.isOver()) {
            shards.put(lease.shard(), new OwnedShard(lease, queues.values()));
            hint();
          }
        });
  }

  /** Shards of which it is not known yet what runs under earlier leases. */
  List<Lease> unexamined() {
    return leases(shard -> !shard.examined);
  }

  private List<Lease> leases(Predicate<OwnedShard> which) {
    return locked(() -> shards.values().stream().filter(which).map(shard -> shard.lease).toList());
  }

  /**
   * It is known.
   *
   * @param away the jobs of these shards that a node is said to run
   */
  void examined(List<Lease> leases, List<Away> away) {
    locked(
        () -> {
          for (Lease lease : leases) {
            OwnedShard shard = owned(lease);
            if (shard != null) {
              // What runs here under an earlier lease, kept or lost, may not be begun beside that.
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
   * Gives back what has not begun, and begins no more of the shard.
   *
   * @param lost the results of what runs will be refused
   * @return what runs
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

  /** What to read now. From here on, what a read returns is compared with what is known. */
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
              // One that has come meanwhile is read next.
              hinted |= !shard.examined;
            }
          }
          return questions;
        });
  }

  /** The shards that have jobs away at other nodes. */
  List<Lease> withAway() {
    return leases(OwnedShard::hasAwayElsewhere);
  }

  /** Which jobs of a shard are away at other nodes by now, of those that were. */
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
   * What a read returned. All at once, so that nothing of low priority begins because it was looked
   * at first; and lanes after streams, as they were read.
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

  /** Somebody on this node has changed these; whether it is committed is not known here. */
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

  /** Waits until there is reason to read again. False: stop. */
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

  /** Something more is there to be read, and is wanted. */
  private boolean isHungry() {
    return shards.values().stream()
        .anyMatch(
            shard -> shard.isReadable() && shard.streams().stream().anyMatch(JobStream::isHungry));
  }

  /** Something may have become due. */
  void hint() {
    locked(
        () -> {
          hinted = true;
          reader.signal();
        });
  }

  /** Something will be due then. */
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

  /** What has been running for so long that it should be written down, and is not. */
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

  /** The next job of a queue to run; empty when the worker stops. Waits for one. */
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

  /** What may begin now; null: look again. */
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
          // There may be room again.
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

  /** Nothing more is begun. */
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
      throw new IllegalStateException("Not served here: " + name);
    }
    return queue;
  }
}
