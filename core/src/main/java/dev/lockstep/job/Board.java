package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
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
  private final Map<Integer, Owned> shards = new HashMap<>();
  private volatile boolean stopping;
  private boolean hinted = true;
  private long wakeNanos = System.nanoTime();

  /** A shard and its streams. */
  private record Owned(Lease lease, List<JobStream> streams) {}

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

  void addShard(Lease lease) {
    List<JobStream> streams = new ArrayList<>();
    for (QueueState queue : queues.values()) {
      for (Priority priority : Priority.values()) {
        streams.add(new JobStream(lease, queue, priority));
      }
    }
    locked(
        () -> {
          shards.put(lease.shard(), new Owned(lease, streams));
          hint();
        });
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
          Owned owned = shards.get(lease.shard());
          List<Task> running = new ArrayList<>();
          if (owned == null || owned.lease() != lease) {
            return running;
          }
          shards.remove(lease.shard());
          for (JobStream stream : owned.streams()) {
            stream.closed = true;
            for (Task task : stream.tasks()) {
              task.lost |= lost;
              if (!giveBack(task) && task.is(Task.State.RUNNING)) {
                running.add(task);
              }
            }
          }
          reader.signal();
          return running;
        });
  }

  /** What to read now. From here on, what a read returns is compared with what is known. */
  List<JobStream.Ask> startRead() {
    return locked(
        () -> {
          hinted = false;
          wakeNanos = Long.MAX_VALUE;
          List<JobStream.Ask> asks = new ArrayList<>();
          for (Owned owned : shards.values()) {
            if (!owned.lease().isLive()) {
              continue;
            }
            for (JobStream stream : owned.streams()) {
              stream.prepare();
              int wanted = stream.state.wanted();
              int each = Math.min(wanted, Math.max(20, 2 * wanted / shards.size()));
              int limit = Math.min(each, stream.room());
              if (limit > 0) {
                asks.add(new JobStream.Ask(stream, limit));
              } else {
                // There may be: to be asked as soon as there is room for it.
                stream.more = true;
              }
            }
          }
          return asks;
        });
  }

  /**
   * What a read returned: for each ask its rows, in order. All at once, so that nothing of low
   * priority begins because it was looked at first.
   *
   * @param at when that was, by the database's clock
   */
  void offer(List<JobStream.Ask> asks, List<List<JobRow>> rows, Instant at) {
    locked(
        () -> {
          for (int i = 0; i < asks.size(); i++) {
            offer(asks.get(i), rows.get(i), at);
          }
        });
  }

  private void offer(JobStream.Ask ask, List<JobRow> rows, Instant at) {
    rows.forEach(row -> offer(ask.stream(), row));
    if (!rows.isEmpty()) {
      ask.stream().advanceTo(rows.get(rows.size() - 1), at);
    }
    ask.stream().readEnded(rows.size() < ask.limit());
  }

  private void offer(JobStream stream, JobRow row) {
    if (stream.closed || stream.knows(row.id())) {
      return;
    }
    LaneState lane = row.lane() == null ? null : stream.lane(row.lane());
    if (lane != null && lane.isClosed()) {
      return;
    }
    if (row.keeper() != null) {
      // A node that handed the shard over is still running it.
      stream.passOver();
      if (lane != null) {
        lane.sawForeign();
      }
      return;
    }
    if (row.waitMs() > 0) {
      if (lane != null) {
        lane.close();
      }
      wakeIn(row.waitMs());
      return;
    }
    Task task = new Task(row, stream);
    if (lane == null || lane.enter(row.laneLimit())) {
      stream.add(task);
      stream.state.add(task);
    } else if (lane.queue(task)) {
      stream.add(task);
    }
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
        .flatMap(owned -> owned.streams().stream())
        .anyMatch(stream -> stream.more && stream.room() > 0 && stream.state.isLow());
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
          for (Owned owned : shards.values()) {
            List<Task> tasks =
                owned.streams().stream()
                    .flatMap(stream -> stream.tasks().stream())
                    .filter(task -> !task.marked && task.hasRunSince(since))
                    .toList();
            if (!tasks.isEmpty()) {
              found.put(owned.lease(), tasks);
            }
          }
          return found;
        });
  }

  /** They are written down. */
  void marked(List<Task> tasks) {
    locked(() -> tasks.forEach(task -> task.marked = true));
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
      locked(() -> release(task));
      return false;
    }
    if (!task.begin()) {
      return false;
    }
    if (queue.begun()) {
      locked(reader::signal);
    }
    return true;
  }

  void settled(Task task) {
    settled(List.of(new Task.Settled(task, -1)));
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
    task.stream.state.settled();
    task.stream.end(task);
    if (settled.again() >= 0) {
      wakeIn(settled.again());
    }
    if (task.row.lane() == null || task.stream.closed) {
      return;
    }
    boolean more =
        task.stream.leave(task.row.lane(), task, settled.again() >= 0, task.stream.state::add);
    if (more) {
      hint();
    }
  }

  /** Back to the table, as if it had not been read; false if it is running, or has ended. */
  private boolean giveBack(Task task) {
    // It may begin at this very moment; then it is not given back.
    boolean ready = task.is(Task.State.READY);
    boolean given = task.stream.giveBack(task);
    if (given && ready) {
      task.stream.state.gaveBack();
    }
    return given;
  }

  /** As {@link #giveBack}, of a task that was polled; its lane has to be read anew. */
  private void release(Task task) {
    if (!giveBack(task)) {
      return;
    }
    if (task.row.lane() != null && !task.stream.closed) {
      LaneState lane = task.stream.lane(task.row.lane());
      lane.leave();
      lane.giveUpWaiting().forEach(task.stream::end);
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
