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
 * A shard that this node owns: the jobs read from it, and its <em>away</em> jobs, which run under
 * an earlier lease at this node or another. An away job occupies its place in its lane until it
 * ends; the lane is then read again, since only the table knows how the job ended. Guarded by the
 * board's lock.
 */
final class OwnedShard {
  final Lease lease;
  private final List<JobStream> streams = new ArrayList<>();
  private final Map<JobId, Absent> away = new HashMap<>();
  // Nothing is read until the away jobs are known.
  boolean examined;

  /**
   * @param here the task, if this node runs it
   */
  private record Absent(Away job, @Nullable Task here) {}

  OwnedShard(Lease lease, Collection<QueueState> queues) {
    this.lease = lease;
    for (QueueState queue : queues) {
      for (Priority priority : Priority.values()) {
        streams.add(new JobStream(lease, queue, priority));
      }
    }
  }

  /** Whether the away jobs are known and the lease is live. */
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
        .filter(task -> !task.marked && task.hasRunSince(nanos))
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
        task.lost |= lost;
        if (!stream.giveBack(task) && task.is(State.RUNNING)) {
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
   * Takes in what a read of a closed lane returned, in order. The read saw every row that the pass
   * had skipped by then, so if there are no more rows the lane is open again.
   *
   * @return in how many milliseconds one of its jobs will be due
   */
  OptionalLong offerLane(JobStream.LaneAsk ask, List<JobRow> rows, Doubts doubts) {
    LaneState lane = ask.lane();
    if (lane.generation() != ask.generation()) {
      return OptionalLong.empty();
    }
    JobStream stream = ask.stream();
    stream.lanes.wasRead(lane);
    LongStream.Builder waits = LongStream.builder();
    // If a row cannot be taken, the lane is closed again at that row.
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

  /** Takes a row into memory; false if it stays in the table. */
  private boolean offer(
      JobStream stream,
      JobRow row,
      @Nullable LaneState lane,
      Doubts doubts,
      LongStream.Builder waits) {
    // This node's own mark is a leftover: its running jobs are known, or away.
    if (row.keeper() != null && !row.keeper().equals(lease.member())) {
      away(Away.of(row, row.keeper()), null);
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

  boolean hasAwayElsewhere() {
    return away.values().stream().anyMatch(one -> one.here() == null);
  }

  /** Adds an away job and counts it in its lane. */
  void away(Away job, @Nullable Task here) {
    if (away.putIfAbsent(job.id(), new Absent(job, here)) == null) {
      lane(job).ifPresent(found -> found.lane().enterAway());
    }
  }

  /** Forgets away jobs of this node once they are settled. Called before each read. */
  boolean forgetEndedHere() {
    return end(one -> one.here() != null && one.here().is(State.ENDED));
  }

  /**
   * Forgets jobs that are no longer away at other nodes.
   *
   * @return true if there were any: read again
   */
  boolean forgetUnless(Predicate<JobId> stillAway) {
    return end(one -> one.here() == null && !stillAway.test(one.job().id()));
  }

  private boolean end(Predicate<Absent> over) {
    List<Absent> ended = away.values().stream().filter(over).toList();
    for (Absent one : ended) {
      away.remove(one.job().id());
      lane(one.job())
          .ifPresent(
              found -> {
                found.lane().leaveAway();
                found.stream().readAgain(found.lane(), 0);
              });
      stream(one.job()).ifPresent(JobStream::passOver);
    }
    return !ended.isEmpty();
  }

  private record FoundLane(JobStream stream, LaneState lane) {}

  private Optional<FoundLane> lane(Away job) {
    String name = job.lane();
    return name == null
        ? Optional.empty()
        : stream(job).map(stream -> new FoundLane(stream, stream.lanes.get(name)));
  }

  /** The job's stream; empty if this worker does not serve the queue. */
  private Optional<JobStream> stream(Away job) {
    return streams.stream()
        .filter(stream -> stream.queue.equals(job.queue()) && stream.priority == job.priority())
        .findAny();
  }
}
