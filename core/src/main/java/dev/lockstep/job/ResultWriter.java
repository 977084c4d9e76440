package dev.lockstep.job;

import dev.lockstep.fault.DatabaseUnavailable;
import dev.lockstep.fault.DeadlineExceeded;
import dev.lockstep.fault.LockTimeout;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.SerializationConflict;
import dev.lockstep.fault.StatementTimeout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that writes results: everything queued, in one transaction. Results of locked jobs are
 * deferred together and retried until the lock is released. If a batch fails and one of its results
 * may be to blame, it is halved until the failing result is alone; that one is deferred and the
 * others go on. A result that the database keeps rejecting becomes a failed attempt of its job,
 * with the reason.
 */
final class ResultWriter {
  private static final Logger log = LoggerFactory.getLogger(ResultWriter.class);
  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final int MAX_DOUBLINGS = 8;
  // For locked results, which are cheap to retry.
  private static final int MAX_DOUBLINGS_LOCKED = 3;

  /** How often a result without text is tried: the fault may lie elsewhere, and pass. */
  private static final int MAX_FAILURES = 6;

  /**
   * Results that may wait for locks beyond their rows before the writer assumes that a table is
   * locked.
   */
  private static final int MAX_WAITING = 32;

  private final ResultTransactions transactions;
  private final int batch;
  private final Mailbox<WriterInput> inputs = new Mailbox<>();
  private final WorkerThread thread;
  // Taken from the mailbox but not handled yet; survives an exception in a round.
  private final ArrayDeque<WriterInput> taken = new ArrayDeque<>();
  private List<JobResult> unwritten = new ArrayList<>();
  private List<Deferred> deferred = new ArrayList<>();
  private volatile int deferredCount;
  private volatile @Nullable String failure;
  private volatile boolean stopping;

  /**
   * A result that could not be written.
   *
   * @param locked whether the only cause is that another transaction has locked its job
   */
  private record Deferred(
      JobResult result, int failures, boolean replaced, boolean locked, long nextNanos) {}

  ResultWriter(ResultTransactions transactions, int number, int batch, Runnable died) {
    this.transactions = transactions;
    this.batch = batch;
    this.thread = new WorkerThread("job-completer-" + number, this::round, died);
  }

  void start() {
    thread.start();
  }

  void add(WriterInput input) {
    inputs.add(input);
  }

  private boolean round() throws InterruptedException {
    if (unwritten.isEmpty() && taken.isEmpty()) {
      taken.addAll(inputs.take(batch, nextDeferred()));
    }
    while (taken.peek() instanceof JobResult) {
      unwritten.add((JobResult) taken.remove());
    }
    write(unwritten, deferred.stream().anyMatch(Deferred::locked));
    unwritten = new ArrayList<>();
    writeDeferred();
    WriterInput next = taken.peek();
    if (next instanceof WriterInput.HandOver handOver) {
      handOver(handOver);
    } else if (next instanceof WriterInput.Mark mark) {
      mark(mark);
    }
    taken.poll();
    return !(next instanceof WriterInput.Stop);
  }

  /**
   * Writes until each result is written, refused or deferred, or the writer stops.
   *
   * @param carefully look for locks first. Used once locks are known or something else is wrong,
   *     since waiting for a lock each time would hold up all results
   */
  private void write(List<JobResult> all, boolean carefully) {
    List<JobResult> left = all;
    boolean looking = carefully;
    while (!left.isEmpty()) {
      Throwable thrown = tried(left, looking, 0);
      if (thrown == null) {
        failure = null;
        return;
      }
      left = transactions.stillOurs(left);
      if (!looking && isWaiting(thrown)) {
        looking = true;
        continue;
      }
      boolean theirs = !isUnrelated(thrown);
      if (left.size() > 1 && theirs) {
        int half = left.size() / 2;
        write(left.subList(0, half), true);
        write(left.subList(half, left.size()), true);
        return;
      }
      if (!left.isEmpty() && theirs) {
        defer(left.get(0), thrown, 0, false);
        return;
      }
      failure =
          "%d results not written yet, retrying: %s"
              .formatted(left.size(), FailureText.describe(thrown));
      log.warn(failure);
      if (stopping) {
        // The next owner runs these jobs again; better than never stopping.
        return;
      }
      LockSupport.parkNanos(this, PAUSE.toNanos());
    }
  }

  /**
   * Tries to write results; defers locked ones.
   *
   * @param failures how often they were deferred already
   * @return what was thrown; null: nothing
   */
  private @Nullable Throwable tried(List<JobResult> some, boolean carefully, int failures) {
    try {
      if (carefully) {
        transactions.writeUnlocked(some).forEach(result -> deferLocked(result, failures));
      } else {
        transactions.write(some);
      }
      return null;
    } catch (Throwable e) {
      return e;
    }
  }

  /**
   * Whether the failure is unrelated to these results: it passes, or the outcome must be checked
   * again.
   */
  private boolean isUnrelated(Throwable thrown) {
    return thrown instanceof DatabaseUnavailable
        || thrown instanceof SerializationConflict
        || thrown instanceof OutcomeUnknown
        || thrown instanceof DeadlineExceeded
        // Too many wait to blame their rows: a table is locked.
        || (isWaiting(thrown)
            && deferred.stream().filter(one -> !one.locked()).count() >= MAX_WAITING);
  }

  /** Whether the write waited for a lock in vain. */
  private static boolean isWaiting(Throwable thrown) {
    return thrown instanceof LockTimeout || thrown instanceof StatementTimeout;
  }

  private void defer(JobResult result, Throwable thrown, int failures, boolean replaced) {
    JobResult next = result;
    boolean hasWords =
        !(result.outcome() instanceof Outcome.Done || result.outcome() instanceof Outcome.Cancel);
    boolean isReplaced = replaced;
    if (!isWaiting(thrown) && !replaced && (hasWords || failures + 1 >= MAX_FAILURES)) {
      next =
          JobResult.of(
              result.task(),
              new Outcome.Retry(
                  "The job's result could not be written: " + FailureText.plain(thrown)));
      isReplaced = true;
    }
    log.warn(
        "Result of job {} not written, retrying later: {}",
        result.row().id(),
        FailureText.describe(thrown));
    long delay = PAUSE.toNanos() << Math.min(failures, MAX_DOUBLINGS);
    deferred.add(new Deferred(next, failures + 1, isReplaced, false, System.nanoTime() + delay));
    deferredCount = deferred.size();
  }

  private void deferLocked(JobResult result, int failures) {
    if (failures == 0) {
      log.info("Result of job {} waits: another transaction has locked the job", result.row().id());
    }
    long next = System.nanoTime() + (PAUSE.toNanos() << failures);
    // Round up to common times, so that results deferred one by one are retried together.
    next += PAUSE.toNanos() - Math.floorMod(next, PAUSE.toNanos());
    int counted = Math.min(failures + 1, MAX_DOUBLINGS_LOCKED);
    deferred.add(new Deferred(result, counted, false, true, next));
    deferredCount = deferred.size();
  }

  private OptionalLong nextDeferred() {
    long now = System.nanoTime();
    OptionalLong left = deferred.stream().mapToLong(one -> one.nextNanos() - now).min();
    return left.isEmpty() ? left : OptionalLong.of(now + left.getAsLong());
  }

  private void writeDeferred() {
    if (deferred.isEmpty()) {
      return;
    }
    List<Deferred> all = deferred;
    deferred = new ArrayList<>();
    Map<Integer, List<JobResult>> locked = new TreeMap<>();
    for (Deferred one : all) {
      if (System.nanoTime() - one.nextNanos() < 0 && !stopping) {
        deferred.add(one);
      } else if (one.locked()) {
        locked.computeIfAbsent(one.failures(), failures -> new ArrayList<>()).add(one.result());
      } else if (!transactions.stillOurs(List.of(one.result())).isEmpty()) {
        writeAlone(one);
      }
    }
    locked.forEach(this::writeLocked);
    deferredCount = deferred.size();
  }

  /** Retries locked results in batches, so that many cost little more than one. */
  private void writeLocked(int failures, List<JobResult> all) {
    List<JobResult> ours = transactions.stillOurs(all);
    for (int from = 0; from < ours.size(); from += batch) {
      writeLockedBatch(failures, ours.subList(from, Math.min(ours.size(), from + batch)));
    }
  }

  private void writeLockedBatch(int failures, List<JobResult> some) {
    Throwable thrown = tried(some, true, failures);
    if (thrown != null && isUnrelated(thrown)) {
      some.forEach(one -> deferLocked(one, failures));
    } else if (thrown != null) {
      some.forEach(one -> writeAlone(new Deferred(one, 0, false, true, 0)));
    }
  }

  private void writeAlone(Deferred one) {
    Throwable thrown = tried(List.of(one.result()), true, 0);
    if (thrown != null && isUnrelated(thrown)) {
      long next = System.nanoTime() + PAUSE.toNanos();
      deferred.add(new Deferred(one.result(), one.failures(), one.replaced(), false, next));
    } else if (thrown != null) {
      defer(one.result(), thrown, one.failures(), one.replaced());
    }
  }

  /** If this fails, the next look finds them unmarked and queues them again. */
  private void mark(WriterInput.Mark mark) {
    try {
      transactions.markRunning(mark.lease(), mark.running());
    } catch (Throwable e) {
      log.warn(
          "Marking long-running jobs of {} failed, retrying: {}",
          mark.lease(),
          FailureText.describe(e));
    }
  }

  private void handOver(WriterInput.HandOver shard) {
    try {
      transactions.handOver(shard.lease(), shard.running());
      shard.marked().complete(null);
    } catch (Throwable e) {
      shard.marked().completeExceptionally(e);
    }
  }

  /** Its current problem, if any. */
  Optional<String> trouble() {
    String now = failure;
    int count = deferredCount;
    return thread
        .trouble()
        .or(() -> Optional.ofNullable(now))
        .or(
            () ->
                count == 0
                    ? Optional.empty()
                    : Optional.of("%d results wait to be written again".formatted(count)));
  }

  /** Writes what is queued, then stops. */
  void stop() {
    stopping = true;
    inputs.add(new WriterInput.Stop());
  }

  void join(long deadlineNanos) {
    thread.join(deadlineNanos);
    thread.stop();
    thread.interrupt();
  }
}
