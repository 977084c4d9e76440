package dev.lockstep.job;

import dev.lockstep.job.Task.Settled;
import dev.lockstep.shard.Lease;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of one shard, queue and priority, which are read in order of their due times. A pass
 * begins at the first and goes on where the last read ended; it begins anew when it has come to the
 * end, or after a while, since jobs may appear before its place: a transaction that took long, a
 * retry, a due time in the past.
 */
final class JobStream {
  /** Jobs of a stream in memory, at most: whoever follows after a crash looks at more than that. */
  static final int MAX_KNOWN = 2_000;

  private static final Duration SHORT_PASS = Duration.ofSeconds(1);
  private static final Duration PASS = Duration.ofSeconds(10);
  private static final Duration LONG_PASS = Duration.ofMinutes(1);
  private static final Instant BEGINNING = Instant.parse("1900-01-01T00:00:00Z");
  private static final UUID FIRST = new UUID(0, 0);

  /** What to read of it. */
  record Ask(JobStream stream, int limit) {}

  final Lease lease;
  final QueueState state;
  final String queue;
  final Priority priority;
  // What ended is remembered until a read has begun after that.
  private final Map<JobId, Task> known = new HashMap<>();
  private final List<Task> ended = new ArrayList<>();
  private int live;
  private final Map<String, LaneState> lanes = new HashMap<>();
  private @Nullable JobRow last;
  private Duration lastAge = Duration.ZERO;
  private long passNanos;
  private long askedNanos;
  private double passShare = 1;
  // Something was seen that a later pass has to look at again.
  private boolean passedOver;
  boolean more;
  // The shard is not this node's any more.
  boolean closed;

  JobStream(Lease lease, QueueState state, Priority priority) {
    this.lease = lease;
    this.state = state;
    this.queue = state.config.name();
    this.priority = priority;
  }

  /** To be called before each read. */
  void prepare() {
    askedNanos = System.nanoTime();
    ended.forEach(task -> known.remove(task.row.id()));
    ended.clear();
    Duration longest = longestPass(passedOver || !lanes.isEmpty(), lastAge);
    if (last == null || System.nanoTime() - passNanos > passShare * longest.toNanos()) {
      last = null;
      passedOver = false;
      // Not all streams at once: what is due in others would wait for it.
      passNanos = System.nanoTime();
      passShare = ThreadLocalRandom.current().nextDouble(0.5, 1);
      lanes.values().removeIf(LaneState::isIdle);
      lanes.values().forEach(LaneState::startPass);
    }
  }

  /**
   * After how long a pass begins anew, at the latest. It then walks over the index entries of all
   * that was done since the last vacuum, and is the first to find them dead, which is as much work
   * as reading them was; so it should not come often where little depends on it.
   *
   * @param awaited something was passed over that may be ready by now
   * @param age for how long what the pass has come to has been due. To appear behind it, a job has
   *     to be older than that: its transaction took as long, or somebody gave it a time in the past
   */
  static Duration longestPass(boolean awaited, Duration age) {
    if (awaited) {
      return SHORT_PASS;
    }
    Duration least = age.compareTo(PASS) < 0 ? PASS : age;
    return least.compareTo(LONG_PASS) < 0 ? least : LONG_PASS;
  }

  void passOver() {
    passedOver = true;
  }

  boolean knows(JobId id) {
    return known.containsKey(id);
  }

  @Nullable Task known(JobId id) {
    return known.get(id);
  }

  /** When what a read returns was asked for. */
  long askedNanos() {
    return askedNanos;
  }

  Collection<Task> tasks() {
    return known.values();
  }

  void add(Task task) {
    known.put(task.row.id(), task);
    live++;
  }

  void end(Task task) {
    if (task.end()) {
      forget(task);
    }
  }

  /** Back to the table, as if it had not been read; false if it is running, or has ended. */
  boolean giveBack(Task task) {
    // It may begin at this very moment; then it is not given back.
    boolean ready = task.is(Task.State.READY);
    boolean given = task.giveBack();
    if (given) {
      forget(task);
      if (ready) {
        state.gaveBack(task);
      }
    }
    return given;
  }

  /** As {@link #giveBack}, of a task that was polled; its lane has to be read anew. */
  void release(Task task) {
    if (giveBack(task) && task.row.lane() != null && !closed) {
      LaneState lane = lane(task.row.lane());
      lane.leave();
      readAgain(lane);
    }
  }

  private void forget(Task task) {
    live--;
    ended.add(task);
  }

  /** Something more is there to be read, and is wanted. */
  boolean isHungry() {
    return more && room() > 0 && state.isLow(priority);
  }

  /** How many more it may have in memory. */
  int room() {
    return MAX_KNOWN - live;
  }

  Instant afterDue() {
    return last == null ? BEGINNING : last.due();
  }

  UUID afterId() {
    return last == null ? FIRST : last.id().value();
  }

  /**
   * To be called after each read that found something.
   *
   * @param at when that was, by the database's clock
   */
  void advanceTo(JobRow row, Instant at) {
    last = row;
    lastAge = Duration.between(row.due(), at);
  }

  /** To be called after each read. */
  void readEnded(boolean reachedEnd) {
    more = !reachedEnd;
    if (reachedEnd) {
      last = null;
    }
  }

  LaneState lane(String name) {
    return lanes.computeIfAbsent(name, ignored -> new LaneState());
  }

  /**
   * A job has ended, and others of its lane may have its place.
   *
   * @param promoted takes those that are ready now
   * @return true if more has to be read from the table
   */
  boolean leave(Settled settled, Consumer<Task> promoted) {
    Task task = settled.task();
    if (settled.refused()) {
      // It is there as somebody left it, perhaps before where the pass has come to.
      passOver();
    }
    boolean now = settled.again() < 0;
    if (task.row.lane() == null) {
      return settled.refused() && now;
    }
    LaneState lane = lane(task.row.lane());
    lane.leave();
    if (settled.refused()) {
      readAgain(lane);
      return now;
    }
    if (!now && task.row.isOrdered()) {
      // In a lane with an order the others wait for it.
      readAgain(lane);
      return false;
    }
    while (lane.hasPlace()) {
      promoted.accept(lane.promote());
    }
    return lane.isClosed() && lane.isLow();
  }

  /** Nobody of the lane is promoted from memory: what comes next is what the next pass finds. */
  void readAgain(LaneState lane) {
    lane.giveUpWaiting().forEach(this::end);
  }
}
