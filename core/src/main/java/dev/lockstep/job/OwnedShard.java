package dev.lockstep.job;

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
 * A shard that this node owns: the jobs read from it, and its stragglers, which run under an
 * earlier lease at this node or another. A straggler occupies its place in its lane until it ends;
 * the lane is then read again, since only the table knows how the job ended. Guarded by the
 * memory's lock.
 */
final class OwnedShard {
  final Lease lease;
  private final List<JobStream> streams = new ArrayList<>();
  private final Map<JobId, Known> stragglers = new HashMap<>();
  // Nothing is read until the stragglers are known.
  boolean examined;

  /**
   * @param here the task, if this node runs it
   */
  private record Known(Straggler job, @Nullable Task here) {}

  OwnedShard(Lease lease, Collection<QueueState> queues) {
    this.lease = lease;
    for (QueueState queue : queues) {
      for (Priority priority : Priority.values()) {
        streams.add(new JobStream(lease, queue, priority));
      }
    }
  }

  /** Whether the stragglers are known and the lease is live. */
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

  /** The unmarked jobs that began before this time. */
  List<Task> unmarkedSince(long nanos) {
    return streams.stream()
        .flatMap(stream -> stream.tasks().stream())
        .filter(task -> !task.isMarked() && task.hasRunSince(nanos))
        .toList();
  }

  /**
   * Gives back the jobs that have not begun.
   *
   * @param lost whether the results of running jobs will be refused
   * @return the running jobs
   */
  List<Task> close(boolean lost) {
    List<Task> running = new ArrayList<>();
    for (JobStream stream : streams) {
      stream.closed = true;
      for (Task task : stream.tasks()) {
        if (!stream.giveBack(task) && task.isBegun()) {
          if (lost) {
            task.lose();
          }
          running.add(task);
        }
      }
    }
    return running;
  }

  /**
   * Takes in what a read of a stream returned, in order.
   *
   * @param at when it was, by the database's clock
   * @return in how many milliseconds one of its jobs will be due
   */
  OptionalLong offer(
      JobStream.StreamRead read, JobReads.StreamRows found, Instant at, RecentChanges changes) {
    JobStream stream = read.stream();
    LongStream.Builder waits = LongStream.builder();
    int taken = 0;
    for (JobRow row : found.rows()) {
      LaneState lane = row.lane() == null ? null : stream.lanes.get(row.lane());
      if (isNew(stream, row) && (lane == null || !lane.isClosed())) {
        taken += offer(stream, row, lane, changes, waits) ? 1 : 0;
      }
    }
    stream.wasRead(found, at, taken);
    return waits.build().min();
  }

  /**
   * Takes in what a read of a closed lane returned, in order. The read saw every row that the pass
   * had skipped by then, so if there are no more rows the lane is open again.
   *
   * @return in how many milliseconds one of its jobs will be due
   */
  OptionalLong offerLane(JobStream.LaneRead read, List<JobRow> rows, RecentChanges changes) {
    LaneState lane = read.lane();
    if (lane.generation() != read.generation()) {
      return OptionalLong.empty();
    }
    JobStream stream = read.stream();
    stream.lanes.wasRead(lane);
    LongStream.Builder waits = LongStream.builder();
    // If a row cannot be taken, the lane is closed again at that row.
    lane.open();
    for (JobRow row : rows) {
      if (isNew(stream, row)) {
        boolean unused = offer(stream, row, lane, changes, waits);
      }
      if (lane.isClosed()) {
        return waits.build().min();
      }
    }
    if (rows.size() >= read.limit()) {
      stream.lanes.readOn(lane, rows.get(rows.size() - 1));
    }
    return OptionalLong.empty();
  }

  private boolean isNew(JobStream stream, JobRow row) {
    return !stream.knows(row.id()) && !isStraggler(row.id());
  }

  /** Takes a row into memory; false if it stays in the table. */
  private boolean offer(
      JobStream stream,
      JobRow row,
      @Nullable LaneState lane,
      RecentChanges changes,
      LongStream.Builder waits) {
    // This node's own mark is a leftover: its running jobs are known, or stragglers.
    if (row.markedBy() != null && !row.markedBy().equals(lease.member())) {
      addStraggler(Straggler.of(row, row.markedBy()), null);
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
    task.mayHaveChanged = changes.has(row.id());
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

  private boolean isStraggler(JobId id) {
    return !stragglers.isEmpty() && stragglers.containsKey(id);
  }

  boolean hasStragglersElsewhere() {
    return stragglers.values().stream().anyMatch(one -> one.here() == null);
  }

  /** Adds a straggler and counts it in its lane. */
  void addStraggler(Straggler job, @Nullable Task here) {
    if (stragglers.putIfAbsent(job.id(), new Known(job, here)) == null) {
      lane(job).ifPresent(found -> found.lane().enterStraggler());
    }
  }

  /** Forgets stragglers of this node once they have ended. Called before each read. */
  boolean forgetEndedHere() {
    return end(one -> one.here() != null && one.here().is(TaskState.ENDED));
  }

  /**
   * Forgets stragglers at other nodes that have ended.
   *
   * @return true if there were any: read again
   */
  boolean forgetUnless(Predicate<JobId> stillRuns) {
    return end(one -> one.here() == null && !stillRuns.test(one.job().id()));
  }

  private boolean end(Predicate<Known> over) {
    List<Known> ended = stragglers.values().stream().filter(over).toList();
    for (Known one : ended) {
      stragglers.remove(one.job().id());
      lane(one.job())
          .ifPresent(
              found -> {
                found.lane().leaveStraggler();
                found.stream().readAgain(found.lane(), 0);
              });
      stream(one.job()).ifPresent(JobStream::passOver);
    }
    return !ended.isEmpty();
  }

  private record FoundLane(JobStream stream, LaneState lane) {}

  private Optional<FoundLane> lane(Straggler job) {
    String name = job.lane();
    return name == null
        ? Optional.empty()
        : stream(job).map(stream -> new FoundLane(stream, stream.lanes.get(name)));
  }

  /** The job's stream; empty if this worker does not serve the queue. */
  private Optional<JobStream> stream(Straggler job) {
    return streams.stream()
        .filter(stream -> stream.queue.equals(job.queue()) && stream.priority == job.priority())
        .findAny();
  }
}
