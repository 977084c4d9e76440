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
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of one shard, queue and priority, which are read in order of their due times. A pass
 * begins at the first and goes on where the last read ended; it begins anew when it has come to the
 * end, or after a while, since jobs may appear before its place: a transaction that took long, a
 * retry, a due time in the past.
 *
 * <p>What a pass walks over and leaves in the table (the rest of a deep lane, jobs that run) the
 * next has to walk over again. So a pass that has walked over much <em>rests</em> at the end, where
 * new jobs appear, and the next begins the later the more that was: the depth of a backlog costs a
 * small share of the time, whatever it is.
 */
final class JobStream {
  /** Jobs of a stream in memory, at most: whoever follows after a crash looks at more than that. */
  static final int MAX_KNOWN = 2_000;

  private static final Duration SHORT_PASS = Duration.ofSeconds(1);
  private static final Duration PASS = Duration.ofSeconds(10);
  private static final Duration LONG_PASS = Duration.ofMinutes(1);
  private static final Instant BEGINNING = Instant.parse("1900-01-01T00:00:00Z");
  private static final UUID FIRST = new UUID(0, 0);

  // For each row that a pass walked over in vain: about fifty times as long as that takes.
  private static final Duration REST_PER_ROW = Duration.ofNanos(100_000);
  // Less is walked over again with every look.
  private static final int LITTLE = 200;
  // A lane that is read by itself costs about as much as so many rows.
  private static final int ROWS_PER_LANE = 20;
  private static final int MAX_SKIPPED_LANES = 2_000;
  private static final int MAX_LANE_READS = 200;

  /**
   * What to read of it.
   *
   * @param skipped lanes that are not wanted
   */
  record Ask(JobStream stream, int limit, List<String> skipped) {
    Ask(JobStream stream, int limit) {
      this(stream, limit, List.of());
    }
  }

  /**
   * What to read of one of its lanes.
   *
   * @param generation the lane's, when it was asked
   */
  record LaneAsk(JobStream stream, LaneState lane, int generation, int limit) {
    Instant afterDue() {
      return JobStream.afterDue(lane.last());
    }

    UUID afterId() {
      return JobStream.afterId(lane.last());
    }
  }

  final Lease lease;
  final QueueState state;
  final String queue;
  final Priority priority;
  // What ended is remembered until a read has begun after that.
  private final Map<JobId, Task> known = new HashMap<>();
  private final List<Task> ended = new ArrayList<>();
  private int live;
  final Lanes lanes = new Lanes();
  private @Nullable JobRow last;
  private Duration lastAge = Duration.ZERO;
  private long passNanos;
  private long askedNanos;
  private double passShare = 1;
  // Rows, or as much as those, that this pass has read in vain.
  private int passedRows;
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

  /**
   * What to read of it now; empty if there is no room for more. To be called before each read.
   *
   * @param shards how many share the read-ahead
   */
  Optional<Ask> ask(int shards) {
    prepare();
    int wanted = state.wanted(priority);
    int each = Math.min(wanted, Math.max(20, 2 * wanted / shards));
    int limit = Math.min(each, room());
    if (limit <= 0) {
      // There may be: to be asked as soon as there is room for it.
      more = true;
      return Optional.empty();
    }
    return Optional.of(new Ask(this, limit, lanes.closed(MAX_SKIPPED_LANES)));
  }

  /** Which lanes to read by themselves now; after {@link #ask}. */
  List<LaneAsk> askLanes() {
    return wantsLanes()
        ? lanes.toRead(MAX_LANE_READS).stream()
            .map(lane -> new LaneAsk(this, lane, lane.generation(), Lanes.MAX_WAITING))
            .toList()
        : List.of();
  }

  private boolean wantsLanes() {
    return room() > 0 && state.wanted(priority) > 0;
  }

  private void prepare() {
    askedNanos = System.nanoTime();
    ended.forEach(task -> known.remove(task.row.id()));
    ended.clear();
    if (last == null || passLeftNanos() < 0) {
      last = null;
      passedOver = false;
      // Not all streams at once: what is due in others would wait for it.
      passNanos = System.nanoTime();
      passShare = ThreadLocalRandom.current().nextDouble(0.5, 1);
      passedRows = ROWS_PER_LANE * lanes.startPass();
    }
  }

  private long passLeftNanos() {
    Duration longest = more ? longestPass(passedOver, lastAge) : Duration.ZERO;
    long nanos = Math.max((long) (passShare * longest.toNanos()), rest(passedRows).toNanos());
    return nanos - (System.nanoTime() - passNanos);
  }

  /** How long after its beginning a pass is not begun anew, that has read so much in vain. */
  static Duration rest(int passedRows) {
    return passedRows < LITTLE ? Duration.ZERO : REST_PER_ROW.multipliedBy(passedRows);
  }

  /** The pass is at the end, and jobs that appear before that are not seen. */
  private boolean isResting() {
    return last != null && !more;
  }

  /**
   * When it has to be looked at again, whatever happens.
   *
   * @param hinted something may have appeared, wherever in the stream that is
   */
  OptionalLong nextMs(boolean hinted) {
    OptionalLong lane = lanes.nextMs();
    if (!isResting() || !(hinted || passedOver)) {
      return lane;
    }
    long pass = Math.max(1, TimeUnit.NANOSECONDS.toMillis(passLeftNanos()) + 1);
    return OptionalLong.of(Math.min(pass, lane.orElse(pass)));
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
      LaneState lane = lanes.get(task.row.lane());
      lane.leave();
      readAgain(lane, 0);
    }
  }

  private void forget(Task task) {
    live--;
    ended.add(task);
  }

  /** Something more is there to be read, and is wanted. */
  boolean isHungry() {
    return (more && room() > 0 && state.isLow(priority)) || (lanes.isHungry() && wantsLanes());
  }

  /** How many more it may have in memory. */
  int room() {
    return MAX_KNOWN - live;
  }

  Instant afterDue() {
    return afterDue(last);
  }

  UUID afterId() {
    return afterId(last);
  }

  private static Instant afterDue(@Nullable JobRow row) {
    return row == null ? BEGINNING : row.due();
  }

  private static UUID afterId(@Nullable JobRow row) {
    return row == null ? FIRST : row.id().value();
  }

  /**
   * To be called after each read.
   *
   * @param at when that was, by the database's clock
   * @param taken how many of the rows were new
   */
  void wasRead(JobReads.Found found, Instant at, int taken) {
    passedRows += found.walked() - taken;
    if (!found.rows().isEmpty()) {
      last = found.rows().get(found.rows().size() - 1);
      lastAge = Duration.between(last.due(), at);
    }
    more = !found.reachedEnd();
    if (!more && rest(passedRows).isZero()) {
      last = null;
    }
  }

  /**
   * A job has ended, and others of its lane may have its place.
   *
   * @param promoted takes those that are ready now
   * @return true if more has to be read from the table
   */
  boolean leave(Settled settled, Consumer<Task> promoted) {
    Task task = settled.task();
    boolean now = settled.again() < 0;
    if (settled.refused() || (!now && isResting())) {
      // It is there as somebody left it, perhaps before where the pass has come to.
      passOver();
    }
    if (task.row.lane() == null) {
      return settled.refused() && now;
    }
    LaneState lane = lanes.get(task.row.lane());
    lane.leave();
    if (settled.refused()) {
      readAgain(lane, settled.again());
      return now;
    }
    if (!now && task.row.isOrdered()) {
      // In a lane with an order the others wait for it.
      readAgain(lane, settled.again());
      return false;
    }
    lanes.promote(lane, promoted);
    boolean wanting = lanes.isWanting(lane);
    lanes.forgetIfIdle(lane);
    return wanting;
  }

  /**
   * Nobody of the lane is promoted from memory: what comes next is what a read of it finds.
   *
   * @param inMs when that should be; up to 0: now
   */
  void readAgain(LaneState lane, long inMs) {
    lanes.readAgain(lane, inMs).forEach(this::end);
  }
}
