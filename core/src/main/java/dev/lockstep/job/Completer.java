package dev.lockstep.job;

import dev.lockstep.job.Results.Ended;
import dev.lockstep.job.Results.Place;
import dev.lockstep.shard.Lease;
import dev.lockstep.tx.LockstepException;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxAction;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes results: whatever is waiting, in one transaction. Two threads do, each for half of the
 * shards, so that one has something to say to the server while the other waits for its COMMIT to be
 * on disk; all of a shard's results are written by one of them, in order. Results of jobs that
 * bring effects of their own are written by the handler's thread instead, each in its own
 * transaction.
 */
final class Completer {
  private static final Logger log = LoggerFactory.getLogger(Completer.class);
  private static final Duration PAUSE_AFTER_FAILURE = Duration.ofMillis(100);
  private static final int WRITERS = 2;
  // Jobs that lie on one page are often of neighbouring shards: let one writer have them.
  private static final int NEIGHBOURS = 4;

  private final Transactor transactor;
  private final TxOptions options;
  private final JobsConfig config;
  private final JobIds ids;
  private final Board board;
  private final int batch;
  private final List<Writer> writers = new ArrayList<>();
  private volatile boolean stopping;

  /** A thread, and what it is given. */
  private final class Writer {
    final Inbox<Step> steps = new Inbox<>();
    final Thread thread;

    Writer(int number) {
      thread = new Thread(() -> Completer.this.run(steps), "job-completer-" + number);
      thread.setDaemon(true);
    }
  }

  /** What a writer is told: how a job ended, or one of the two below. */
  sealed interface Step permits Ended, Keep, Stop {}

  record Keep(Lease lease, List<Task> tasks, CompletableFuture<Void> kept) implements Step {}

  record Stop() implements Step {}

  Completer(Transactor transactor, JobsConfig config, JobIds ids, Board board, int batch) {
    this.transactor = transactor;
    this.options = transactor.defaults().withLabel("jobs done").withPointLookups();
    this.config = config;
    this.ids = ids;
    this.board = board;
    this.batch = batch;
    for (int i = 0; i < WRITERS; i++) {
      writers.add(new Writer(i));
    }
  }

  void start() {
    writers.forEach(writer -> writer.thread.start());
  }

  private Inbox<Step> stepsOf(Lease lease) {
    return writers.get(lease.shard() / NEIGHBOURS % WRITERS).steps;
  }

  void add(Ended ended) {
    stepsOf(ended.task().lease).add(ended);
  }

  /** Ends when all results so far are written and the jobs are marked as this node's. */
  CompletionStage<Void> keep(Lease lease, List<Task> tasks) {
    CompletableFuture<Void> kept = new CompletableFuture<>();
    stepsOf(lease).add(new Keep(lease, tasks, kept));
    return kept;
  }

  /**
   * Writes effects and result in one transaction, on this thread.
   *
   * @return false if the result is refused; nothing of the effects is left then
   */
  boolean completeWith(Task task, TxAction effects) {
    Ended ended = new Ended(task, Outcome.done(), Duration.ZERO);
    boolean accepted = tryComplete(ended, effects);
    if (!accepted && task.kept) {
      // Its shard was handed over in between; now its own row is its lease.
      accepted = tryComplete(ended, effects);
    }
    board.settled(task);
    return accepted;
  }

  private boolean tryComplete(Ended ended, TxAction effects) {
    try {
      return transactor.call(
          options,
          connection -> {
            bound(connection, ended.task().lease);
            effects.run(connection);
            if (!write(connection, List.of(ended), true).isEmpty()) {
              throw new Refused();
            }
            return true;
          },
          // The job is there: nothing has happened. It is gone: this did it, since nobody else
          // could have had the result accepted; or somebody cancelled it, who had the last word.
          connection ->
              JobQueries.exists(connection, ended.row().id())
                  ? Optional.empty()
                  : Optional.of(true));
    } catch (Refused e) {
      return false;
    }
  }

  /** Should this process stop here, what the effects lock is locked no longer than a lease. */
  private static void bound(Connection connection, Lease lease) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    lease.bound(trip);
    trip.send();
  }

  /** Rolls the effects back. */
  private static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Refused() {
      super("refused", null, false, false);
    }
  }

  /** Marks a job as running here before it begins; false if it is not this node's to run. */
  boolean mark(Task task) {
    boolean marked = !mark(task.lease, List.of(task)).isEmpty();
    board.marked(List.of(task));
    return marked;
  }

  /** Marks jobs of one shard as running here; those that have ended meanwhile are passed over. */
  Set<JobId> mark(Lease lease, List<Task> tasks) {
    return transactor.call(
        options, connection -> new Results(connection, config, ids).keep(lease, tasks));
  }

  private void run(Inbox<Step> steps) {
    while (true) {
      List<Step> taken;
      try {
        taken = steps.take(batch);
      } catch (InterruptedException e) {
        return;
      }
      List<Ended> writes = new ArrayList<>(taken.size());
      for (Step step : taken) {
        if (step instanceof Ended ended) {
          writes.add(ended);
          continue;
        }
        writeUntilDone(writes);
        writes = new ArrayList<>();
        if (step instanceof Keep keep) {
          keep(keep);
        } else {
          return;
        }
      }
      writeUntilDone(writes);
    }
  }

  /** Until it is written, refused, or there is no point in trying any more. */
  private void writeUntilDone(List<Ended> all) {
    List<Ended> left = new ArrayList<>(all);
    while (!left.isEmpty()) {
      List<Ended> now = left;
      try {
        settle(now, write(now));
        return;
      } catch (LockstepException e) {
        log.warn("{} results are not written yet: {}", now.size(), e.toString());
        left = stillOurs(now);
        if (stopping && !left.isEmpty()) {
          // Whoever follows runs them again; better than never to end.
          left = List.of();
        }
        LockSupport.parkNanos(this, PAUSE_AFTER_FAILURE.toNanos());
      }
    }
  }

  /** In bulk; where that does not add up, again, and row by row. Returns those refused. */
  private Set<JobId> write(List<Ended> all) {
    try {
      return transactor.call(options, connection -> write(connection, all, false));
    } catch (Results.DoesNotAddUp e) {
      return transactor.call(options, connection -> write(connection, all, true));
    }
  }

  private void settle(List<Ended> all, Set<JobId> refused) {
    List<Task.Settled> settled = new ArrayList<>(all.size());
    for (Ended ended : all) {
      boolean no = !refused.isEmpty() && refused.contains(ended.row().id());
      if (no) {
        log.info("The result of job {} is refused: changed, or no longer ours", ended.row().id());
      }
      settled.add(new Task.Settled(ended.task(), no ? -1 : ended.againMs()));
    }
    board.settled(settled);
  }

  private List<Ended> stillOurs(List<Ended> all) {
    List<Ended> ours = new ArrayList<>();
    for (Ended ended : all) {
      if (ended.task().lost) {
        board.settled(ended.task());
      } else {
        ours.add(ended);
      }
    }
    return ours;
  }

  /** Shards in order, each with its own fence. */
  private Set<JobId> write(Connection connection, List<Ended> all, boolean each)
      throws SQLException {
    Map<Lease, List<Ended>> owned = new HashMap<>();
    Map<Lease, List<Ended>> kept = new HashMap<>();
    for (Ended ended : all) {
      (ended.task().kept ? kept : owned)
          .computeIfAbsent(ended.task().lease, lease -> new ArrayList<>())
          .add(ended);
    }
    Map<Place, List<Ended>> places = new HashMap<>();
    owned.forEach((lease, some) -> places.put(new Place(lease, false), some));
    kept.forEach((lease, some) -> places.put(new Place(lease, true), some));
    Map<Place, List<Ended>> inOrder = new LinkedHashMap<>();
    places.entrySet().stream()
        .sorted(
            Comparator.comparingInt((Map.Entry<Place, ?> entry) -> entry.getKey().lease().shard())
                .thenComparing(entry -> entry.getKey().kept()))
        .forEach(entry -> inOrder.put(entry.getKey(), entry.getValue()));
    return new Results(connection, config, ids).write(inOrder, each);
  }

  private void keep(Keep keep) {
    try {
      if (!keep.tasks().isEmpty()) {
        transactor.run(
            options,
            connection -> new Results(connection, config, ids).keep(keep.lease(), keep.tasks()));
        keep.tasks().forEach(task -> task.kept = true);
      }
      keep.kept().complete(null);
    } catch (LockstepException e) {
      keep.kept().completeExceptionally(e);
    }
  }

  /** Writes what is there and ends. */
  void close(Duration timeout) {
    stopping = true;
    writers.forEach(writer -> writer.steps.add(new Stop()));
    long end = System.nanoTime() + timeout.toNanos();
    try {
      for (Writer writer : writers) {
        TimeUnit.NANOSECONDS.timedJoin(writer.thread, Math.max(1_000_000, end - System.nanoTime()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    writers.forEach(writer -> writer.thread.interrupt());
  }
}
