package dev.lockstep.job;

import dev.lockstep.fault.DatabaseUnavailable;
import dev.lockstep.fault.DeadlineExceeded;
import dev.lockstep.fault.LockTimeout;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.SerializationConflict;
import dev.lockstep.fault.StatementTimeout;
import dev.lockstep.shard.Lease;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that writes results: everything queued, in one transaction. Results of locked jobs are
 * put aside together and retried until the lock is released. If a batch fails for another reason
 * than an unavailable database, it is halved until the failing result is alone; that one is put
 * aside and the others go on. A result that the database keeps rejecting becomes a failed attempt
 * of its job, with the reason.
 */
final class ResultsWriter {
  private static final Logger log = LoggerFactory.getLogger(ResultsWriter.class);
  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final int MAX_DOUBLINGS = 8;
  // For locked results, which are cheap to retry.
  private static final int MAX_DOUBLINGS_LOCKED = 3;

  /** Tries of a result that carries no text: the fault may lie elsewhere, and pass. */
  private static final int MAX_FAILURES = 6;

  /**
   * Results that may wait for locks beyond their rows before the writer assumes that a table is
   * locked.
   */
  private static final int MAX_WAITING = 32;

  private final Completer completer;
  private final int batch;
  private final Inbox<Step> steps = new Inbox<>();
  private final Loop loop;
  // Taken from the inbox but not handled yet; survives an exception in a round.
  private final ArrayDeque<Step> taken = new ArrayDeque<>();
  private List<Ended> unwritten = new ArrayList<>();
  private List<Aside> aside = new ArrayList<>();
  private volatile int asideCount;
  private volatile @Nullable String failure;
  private volatile boolean stopping;

  /** A writer's input: a job's end, or one of these. */
  sealed interface Step permits Ended, Keep, Mark, Stop {}

  /** Mark these as this node's: their shard is being handed over. */
  record Keep(Lease lease, List<Task> tasks, CompletableFuture<Void> kept) implements Step {}

  /** Mark these as running. */
  record Mark(Lease lease, List<Task> tasks) implements Step {}

  record Stop() implements Step {}

  /**
   * A result that could not be written.
   *
   * @param locked only because another transaction has locked its job
   */
  private record Aside(
      Ended ended, int failures, boolean replaced, boolean locked, long nextNanos) {}

  ResultsWriter(Completer completer, int number, int batch, Runnable died) {
    this.completer = completer;
    this.batch = batch;
    this.loop = new Loop("job-completer-" + number, this::round, died);
  }

  void start() {
    loop.start();
  }

  void add(Step step) {
    steps.add(step);
  }

  private boolean round() throws InterruptedException {
    if (unwritten.isEmpty() && taken.isEmpty()) {
      taken.addAll(steps.take(batch, nextAside()));
    }
    while (taken.peek() instanceof Ended) {
      unwritten.add((Ended) taken.remove());
    }
    write(unwritten, aside.stream().anyMatch(Aside::locked));
    unwritten = new ArrayList<>();
    writeAside();
    Step step = taken.peek();
    if (step instanceof Keep keep) {
      keep(keep);
    } else if (step instanceof Mark mark) {
      mark(mark);
    }
    taken.poll();
    return !(step instanceof Stop);
  }

  /**
   * Writes until each result is written, refused or put aside, or the writer stops.
   *
   * @param carefully look for locks first. Used once locks are known or something else is wrong,
   *     since waiting for a lock each time would hold up all results
   */
  private void write(List<Ended> all, boolean carefully) {
    List<Ended> left = all;
    boolean looking = carefully;
    while (!left.isEmpty()) {
      Throwable thrown = tried(left, looking, 0);
      if (thrown == null) {
        failure = null;
        return;
      }
      left = completer.stillOurs(left);
      if (!looking && isWaiting(thrown)) {
        looking = true;
        continue;
      }
      boolean theirs = !isNobodysFault(thrown);
      if (left.size() > 1 && theirs) {
        int half = left.size() / 2;
        write(left.subList(0, half), true);
        write(left.subList(half, left.size()), true);
        return;
      }
      if (!left.isEmpty() && theirs) {
        putAside(left.get(0), thrown, 0, false);
        return;
      }
      failure =
          "%d results not written yet, retrying: %s"
              .formatted(left.size(), Failure.describe(thrown));
      log.warn(failure);
      if (stopping) {
        // The next owner runs these jobs again; better than never stopping.
        return;
      }
      LockSupport.parkNanos(this, PAUSE.toNanos());
    }
  }

  /**
   * Tries to write results; puts locked ones aside.
   *
   * @param failures how often they were put aside already
   * @return what was thrown; null: nothing
   */
  private @Nullable Throwable tried(List<Ended> some, boolean carefully, int failures) {
    try {
      if (carefully) {
        completer.writeUnlocked(some).forEach(ended -> putAsideLocked(ended, failures));
      } else {
        completer.writeAndSettle(some);
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
  private boolean isNobodysFault(Throwable thrown) {
    return thrown instanceof DatabaseUnavailable
        || thrown instanceof SerializationConflict
        || thrown instanceof OutcomeUnknown
        || thrown instanceof DeadlineExceeded
        // Too many wait to blame their rows: a table is locked.
        || (isWaiting(thrown)
            && aside.stream().filter(one -> !one.locked()).count() >= MAX_WAITING);
  }

  /** Whether the write waited for a lock in vain. */
  private static boolean isWaiting(Throwable thrown) {
    return thrown instanceof LockTimeout || thrown instanceof StatementTimeout;
  }

  private void putAside(Ended ended, Throwable thrown, int failures, boolean replaced) {
    Ended next = ended;
    boolean hasWords =
        !(ended.outcome() instanceof Outcome.Done || ended.outcome() instanceof Outcome.Cancel);
    boolean isReplaced = replaced;
    if (!isWaiting(thrown) && !replaced && (hasWords || failures + 1 >= MAX_FAILURES)) {
      next =
          Ended.of(
              ended.task(),
              new Outcome.Retry("The job's result could not be written: " + Failure.plain(thrown)));
      isReplaced = true;
    }
    log.warn(
        "Result of job {} not written, retrying later: {}",
        ended.row().id(),
        Failure.describe(thrown));
    long delay = PAUSE.toNanos() << Math.min(failures, MAX_DOUBLINGS);
    aside.add(new Aside(next, failures + 1, isReplaced, false, System.nanoTime() + delay));
    asideCount = aside.size();
  }

  private void putAsideLocked(Ended ended, int failures) {
    if (failures == 0) {
      log.info("Result of job {} waits: another transaction has locked the job", ended.row().id());
    }
    long next = System.nanoTime() + (PAUSE.toNanos() << failures);
    // Round up to common times, so that results put aside one by one are retried together.
    next += PAUSE.toNanos() - Math.floorMod(next, PAUSE.toNanos());
    int counted = Math.min(failures + 1, MAX_DOUBLINGS_LOCKED);
    aside.add(new Aside(ended, counted, false, true, next));
    asideCount = aside.size();
  }

  private OptionalLong nextAside() {
    long now = System.nanoTime();
    OptionalLong left = aside.stream().mapToLong(one -> one.nextNanos() - now).min();
    return left.isEmpty() ? left : OptionalLong.of(now + left.getAsLong());
  }

  private void writeAside() {
    if (aside.isEmpty()) {
      return;
    }
    List<Aside> all = aside;
    aside = new ArrayList<>();
    Map<Integer, List<Ended>> locked = new TreeMap<>();
    for (Aside one : all) {
      if (System.nanoTime() - one.nextNanos() < 0 && !stopping) {
        aside.add(one);
      } else if (one.locked()) {
        locked.computeIfAbsent(one.failures(), failures -> new ArrayList<>()).add(one.ended());
      } else if (!completer.stillOurs(List.of(one.ended())).isEmpty()) {
        writeAlone(one);
      }
    }
    locked.forEach(this::writeLocked);
    asideCount = aside.size();
  }

  /** Retries locked results in batches, so that many cost little more than one. */
  private void writeLocked(int failures, List<Ended> all) {
    List<Ended> ours = completer.stillOurs(all);
    for (int from = 0; from < ours.size(); from += batch) {
      writeLockedBatch(failures, ours.subList(from, Math.min(ours.size(), from + batch)));
    }
  }

  private void writeLockedBatch(int failures, List<Ended> some) {
    Throwable thrown = tried(some, true, failures);
    if (thrown != null && isNobodysFault(thrown)) {
      some.forEach(one -> putAsideLocked(one, failures));
    } else if (thrown != null) {
      some.forEach(one -> writeAlone(new Aside(one, 0, false, true, 0)));
    }
  }

  private void writeAlone(Aside one) {
    Throwable thrown = tried(List.of(one.ended()), true, 0);
    if (thrown != null && isNobodysFault(thrown)) {
      long next = System.nanoTime() + PAUSE.toNanos();
      aside.add(new Aside(one.ended(), one.failures(), one.replaced(), false, next));
    } else if (thrown != null) {
      putAside(one.ended(), thrown, one.failures(), one.replaced());
    }
  }

  /** If this fails, the next look finds them unmarked and queues them again. */
  private void mark(Mark mark) {
    try {
      completer.markRunning(mark.lease(), mark.tasks());
    } catch (Throwable e) {
      log.warn(
          "Marking long-running jobs of {} failed, retrying: {}",
          mark.lease(),
          Failure.describe(e));
    }
  }

  private void keep(Keep keep) {
    try {
      completer.keepNow(keep.lease(), keep.tasks());
      keep.kept().complete(null);
    } catch (Throwable e) {
      keep.kept().completeExceptionally(e);
    }
  }

  /** Its current problem, if any. */
  Optional<String> trouble() {
    String now = failure;
    int count = asideCount;
    return loop.trouble()
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
    steps.add(new Stop());
  }

  void join(long deadlineNanos) {
    loop.join(deadlineNanos);
    loop.stop();
    loop.interrupt();
  }
}
