package dev.lockstep.job;

import dev.lockstep.job.Task.State;
import dev.lockstep.shard.Lease;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A shard that this node owns: what it has read of it, and which of its jobs are <em>away</em>:
 * they run under an earlier lease of the shard, at another node or at this one, and their rows say
 * so. Such a job has its place in its lane until it has ended; then the lane is read again, since
 * only the table knows how it ended. Guarded by the board's lock.
 */
final class OwnedShard {
  final Lease lease;
  private final List<JobStream> streams = new ArrayList<>();
  private final Map<JobId, Away> away = new HashMap<>();
  // Until it is known which jobs are away nothing is read.
  boolean examined;

  /**
   * @param here the task, if it is this node that runs it
   */
  private record Away(JobRow row, @Nullable Task here) {}

  OwnedShard(Lease lease, Collection<QueueState> queues) {
    this.lease = lease;
    for (QueueState queue : queues) {
      for (Priority priority : Priority.values()) {
        streams.add(new JobStream(lease, queue, priority));
      }
    }
  }

  /** It is known what is away, and the shard is still this node's. */
  boolean isReadable() {
    return examined && lease.isLive();
  }

  List<JobStream> streams() {
    return streams;
  }

  Optional<Task> known(JobId id) {
    return streams.stream()
        .flatMap(stream -> Optional.ofNullable(stream.known(id)).stream())
        .findAny();
  }

  /** What has been running since before then, and is not marked. */
  List<Task> unmarkedSince(long nanos) {
    return streams.stream()
        .flatMap(stream -> stream.tasks().stream())
        .filter(task -> !task.marked && task.hasRunSince(nanos))
        .toList();
  }

  /**
   * Gives back what has not begun.
   *
   * @param lost the results of what runs will be refused
   * @return what runs
   */
  List<Task> close(boolean lost) {
    List<Task> running = new ArrayList<>();
    for (JobStream stream : streams) {
      stream.closed = true;
      for (Task task : stream.tasks()) {
        task.lost |= lost;
        if (!stream.giveBack(task) && task.is(State.RUNNING)) {
          running.add(task);
        }
      }
    }
    return running;
  }

  /**
   * What a read returned of a stream, in order.
   *
   * @param at when that was, by the database's clock
   * @return in how many milliseconds something of it will be due
   */
  OptionalLong offer(JobStream.Ask ask, JobReads.Found found, Instant at, Doubts doubts) {
    JobStream stream = ask.stream();
    LongStream.Builder waits = LongStream.builder();
    int taken = 0;
    for (JobRow row : found.rows()) {
      LaneState lane = row.lane() == null ? null : stream.lanes.get(row.lane());
      if (isNew(stream, row) && (lane == null || !lane.isClosed())) {
        taken += offer(stream, row, lane, doubts, waits) ? 1 : 0;
      }
    }
    stream.wasRead(found, at, taken);
    return waits.build().min();
  }

  /**
   * What a read returned of a lane that is closed, in order. All that the pass has skipped until
   * then was there to be seen: if there is no more, the lane is open again.
   *
   * @return in how many milliseconds something of it will be due
   */
  OptionalLong offerLane(JobStream.LaneAsk ask, List<JobRow> rows, Doubts doubts) {
    LaneState lane = ask.lane();
    if (lane.generation() != ask.generation()) {
      return OptionalLong.empty();
    }
    JobStream stream = ask.stream();
    stream.lanes.wasRead(lane);
    LongStream.Builder waits = LongStream.builder();
    // Whatever stops it closes the lane again, at the right place.
    lane.open();
    for (JobRow row : rows) {
      if (isNew(stream, row)) {
        boolean unused = offer(stream, row, lane, doubts, waits);
      }
      if (lane.isClosed()) {
        return waits.build().min();
      }
    }
    if (rows.size() >= ask.limit()) {
      stream.lanes.readOn(lane, rows.get(rows.size() - 1));
    }
    return OptionalLong.empty();
  }

  private boolean isNew(JobStream stream, JobRow row) {
    return !stream.knows(row.id()) && !isAway(row.id());
  }

  /** True if it is in memory now. */
  private boolean offer(
      JobStream stream,
      JobRow row,
      @Nullable LaneState lane,
      Doubts doubts,
      LongStream.Builder waits) {
    // A mark of this node's own is a leftover: what runs here is known, or away.
    if (row.keeper() != null && !row.keeper().equals(lease.member())) {
      away(row, null);
      stream.passOver();
      return false;
    }
    if (row.waitMs() > 0) {
      if (lane != null) {
        stream.lanes.await(lane, row.waitMs());
      }
      waits.add(row.waitMs());
      return false;
    }
    Task task = new Task(row, stream, stream.askedNanos());
    task.doubtful = doubts.has(row.id());
    if (lane == null || lane.enter(row.laneLimit())) {
      stream.add(task);
      stream.state.add(task);
      return true;
    }
    if (stream.lanes.queue(lane, task)) {
      stream.add(task);
      return true;
    }
    return false;
  }

  private boolean isAway(JobId id) {
    return !away.isEmpty() && away.containsKey(id);
  }

  /** The rows of the jobs that are away at other nodes. */
  List<JobRow> awayElsewhere() {
    return away.values().stream().filter(one -> one.here() == null).map(Away::row).toList();
  }

  /** A job is away; its lane counts it. */
  void away(JobRow row, @Nullable Task here) {
    if (away.putIfAbsent(row.id(), new Away(row, here)) == null) {
      lane(row).ifPresent(found -> found.lane().enterAway());
    }
  }

  /** Jobs at this node end by being settled; they are forgotten before the next read begins. */
  boolean forgetEndedHere() {
    return end(one -> one.here() != null && one.here().is(State.ENDED));
  }

  /**
   * Forgets those at other nodes that are not away any more.
   *
   * @return true if there were such: read again
   */
  boolean forgetUnless(Predicate<JobId> stillAway) {
    return end(one -> one.here() == null && !stillAway.test(one.row().id()));
  }

  private boolean end(Predicate<Away> over) {
    List<Away> ended = away.values().stream().filter(over).toList();
    for (Away one : ended) {
      away.remove(one.row().id());
      lane(one.row())
          .ifPresent(
              found -> {
                found.lane().leaveAway();
                found.stream().readAgain(found.lane(), 0);
              });
      stream(one.row()).ifPresent(JobStream::passOver);
    }
    return !ended.isEmpty();
  }

  private record FoundLane(JobStream stream, LaneState lane) {}

  private Optional<FoundLane> lane(JobRow row) {
    String name = row.lane();
    return name == null
        ? Optional.empty()
        : stream(row).map(stream -> new FoundLane(stream, stream.lanes.get(name)));
  }

  /** Empty: the queue is not served here. */
  private Optional<JobStream> stream(JobRow row) {
    return streams.stream()
        .filter(stream -> stream.queue.equals(row.queue()) && stream.priority == row.priority())
        .findAny();
  }
}
