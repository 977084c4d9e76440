package dev.lockstep.job;

import dev.lockstep.job.Task.TaskEnd;
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
 * The jobs of one shard, queue and priority, read in due order. A <em>pass</em> begins at the first
 * job and continues where the last read ended. It restarts at the end, or after a while, because
 * jobs may appear behind it: from a long transaction, a retry, or a due time in the past.
 *
 * <p>The next pass must step again over every row that this one leaves in the table: the rest of a
 * deep lane, running jobs. So a pass that has stepped over many rows <em>rests</em> at the end,
 * where new jobs appear. The more rows, the longer the rest; a deep backlog costs a small, constant
 * share of time.
 */
final class JobStream {
  /**
   * Jobs of a stream in memory, at most. {@link ShardRecovery} relies on this bound after a crash.
   */
  static final int MAX_KNOWN = 2_000;

  private static final Duration SHORT_PASS = Duration.ofSeconds(1);
  private static final Duration PASS = Duration.ofSeconds(10);
  private static final Duration LONG_PASS = Duration.ofMinutes(1);
  private static final Instant BEGINNING = Instant.parse("1900-01-01T00:00:00Z");
  private static final UUID FIRST = new UUID(0, 0);

  // Per row stepped over in vain: about fifty times what stepping over it takes.
  private static final Duration REST_PER_ROW = Duration.ofNanos(100_000);
  // Fewer rows than this are stepped over again with every look.
  private static final int LITTLE = 200;
  // Reading a single lane costs about as much as this many rows.
  private static final int ROWS_PER_LANE = 20;
  private static final int MAX_SKIPPED_LANES = 2_000;
  private static final int MAX_LANE_READS = 200;

  /**
   * What to read of a stream.
   *
   * @param skipped lanes to leave out
   */
  record StreamRead(JobStream stream, int limit, List<String> skipped) {
    StreamRead(JobStream stream, int limit) {
      this(stream, limit, List.of());
    }
  }

  /**
   * What to read of one lane.
   *
   * @param generation the lane's generation when the read was asked for
   */
  record LaneRead(JobStream stream, LaneState lane, int generation, int limit) {
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
  // Ended tasks stay until a later read has begun, so that a read under way does not bring them
  // back.
  private final Map<JobId, Task> known = new HashMap<>();
  private final List<Task> ended = new ArrayList<>();
  private int live;
  final Lanes lanes = new Lanes();
  private @Nullable JobRow last;
  private Duration lastAge = Duration.ZERO;
  private long passNanos;
  private long askedNanos;
  private double passShare = 1;
  // Cost of this pass so far, in rows read in vain.
  private int passedRows;
  // This pass saw something that a later pass must look at again.
  private boolean passedOver;
  boolean more;
  // This node no longer owns the shard.
  boolean closed;

  JobStream(Lease lease, QueueState state, Priority priority) {
    this.lease = lease;
    this.state = state;
    this.queue = state.config.name();
    this.priority = priority;
  }

  /**
   * Decides what to read now; empty if there is no room. Call before each read.
   *
   * @param shards how many shards share the read-ahead
   */
  Optional<StreamRead> nextRead(int shards) {
    prepare();
    int wanted = state.wanted(priority);
    int each = Math.min(wanted, Math.max(20, 2 * wanted / shards));
    int limit = Math.min(each, room());
    if (limit <= 0) {
      // Assume there is more, and ask as soon as there is room.
      more = true;
      return Optional.empty();
    }
    return Optional.of(new StreamRead(this, limit, lanes.closed(MAX_SKIPPED_LANES)));
  }

  /** The single lanes to read now. Call after {@link #nextRead}. */
  List<LaneRead> nextLaneReads() {
    return wantsLanes()
        ? lanes.toRead(MAX_LANE_READS).stream()
            .map(lane -> new LaneRead(this, lane, lane.generation(), Lanes.MAX_WAITING))
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
      // Spread restarts over time: if all streams restarted at once, due jobs of others would wait.
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

  /** How long a pass that read this many rows in vain lasts before the next may begin. */
  static Duration rest(int passedRows) {
    return passedRows < LITTLE ? Duration.ZERO : REST_PER_ROW.multipliedBy(passedRows);
  }

  /** Whether the pass waits at the end. It does not see jobs that appear behind it. */
  private boolean isResting() {
    return last != null && !more;
  }

  /**
   * When the stream must be read again, whatever happens.
   *
   * @param hinted whether a job may have appeared anywhere in the stream
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
   * The longest time before a pass restarts. A restart steps over the index entries of everything
   * done since the last vacuum and is the first to find them dead, which costs as much as reading
   * them did. So it should be rare where little depends on it.
   *
   * @param awaited whether the pass stepped over something that may be ready by now
   * @param age how long the pass's current position has been due. A job that appears behind it must
   *     be older: its transaction took that long, or its due time was in the past
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

  /** When the current read was asked for. */
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

  /** Returns a job to the table as if it had not been read; false if it has begun or ended. */
  boolean giveBack(Task task) {
    // A runner may begin it right now; then it is not given back.
    boolean given = task.giveBack();
    if (given) {
      forget(task);
    }
    return given;
  }

  /** Like {@link #giveBack}, for a polled task. Its lane must be read again. */
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

  /** Whether there is more to read and it is wanted. */
  boolean needsRead() {
    return (more && room() > 0 && state.isLow(priority)) || (lanes.needsRead() && wantsLanes());
  }

  /** How many more jobs fit in memory. */
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
   * Call after each read.
   *
   * @param at when it was, by the database's clock
   * @param taken how many of the rows were new
   */
  void wasRead(JobReads.StreamRows found, Instant at, int taken) {
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
   * Frees an ended job's place in its lane.
   *
   * @param promoted takes the jobs that are ready now
   * @return true if more must be read from the table
   */
  boolean leave(TaskEnd end, Consumer<Task> promoted) {
    Task task = end.task();
    boolean now = end.againMs() < 0;
    if (end.refused() || (!now && isResting())) {
      // The row is as another transaction left it, perhaps behind the pass.
      passOver();
    }
    if (task.row.lane() == null) {
      return end.refused() && now;
    }
    LaneState lane = lanes.get(task.row.lane());
    lane.leave();
    if (end.refused()) {
      readAgain(lane, end.againMs());
      return now;
    }
    if (!now && task.row.isOrdered()) {
      // In an ordered lane the others wait for it.
      readAgain(lane, end.againMs());
      return false;
    }
    lanes.promote(lane, promoted);
    boolean wanting = lanes.needsRead(lane);
    lanes.forgetIfIdle(lane);
    return wanting;
  }

  /**
   * Drops the lane's waiting jobs: only a new read knows what comes next.
   *
   * @param inMs when to read it; 0 or less: now
   */
  void readAgain(LaneState lane, long inMs) {
    lanes.readAgain(lane, inMs).forEach(this::end);
  }
}
