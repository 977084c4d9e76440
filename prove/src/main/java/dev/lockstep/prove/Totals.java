package dev.lockstep.prove;

import dev.lockstep.prove.check.Checkers.Verdict;
import dev.lockstep.prove.check.Violation;
import dev.lockstep.prove.fault.Coverage;
import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import dev.lockstep.prove.history.Status;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Adds up what the rounds of a campaign did, and their verdicts. Used by one thread. */
final class Totals {
  private static final long SOON_MS = 1_500;

  private record Pending(int round, History history, Future<Verdict> verdict) {}

  private final long seed;
  private final Coverage coverage;
  private final long begun = System.nanoTime();
  private final Map<String, Map<Status, Long>> calls = new TreeMap<>();
  private int rounds;
  private int round;
  private long operations;
  private long reads;
  private long parts;
  private long undecided;
  private List<Violation> violations = List.of();
  private @Nullable History failing;
  private @Nullable Pending pending;

  Totals(long seed, Coverage coverage) {
    this.seed = seed;
    this.coverage = coverage;
  }

  int rounds() {
    return rounds;
  }

  long operations() {
    return operations;
  }

  /** As far as it has been judged. */
  boolean passed() {
    return violations.isEmpty();
  }

  /** Adds a round that is being judged. */
  void add(int number, History history, Future<Verdict> verdict) {
    rounds++;
    round = number;
    for (Op op : history.ops()) {
      if (op.kind().startsWith("final.")) {
        reads++;
      } else {
        operations++;
      }
      calls
          .computeIfAbsent(op.kind(), kind -> new EnumMap<>(Status.class))
          .merge(op.status(), 1L, Long::sum);
    }
    pending = new Pending(number, history, verdict);
  }

  /** Waits until every added round is judged. */
  void awaitVerdict() throws InterruptedException {
    if (pending == null) {
      return;
    }
    try {
      take(pending, pending.verdict().get());
    } catch (ExecutionException e) {
      throw new IllegalStateException("A checker failed", e.getCause());
    }
  }

  /** Waits a moment: a short history is judged before the next round begins. */
  void awaitVerdictForAWhile() throws InterruptedException {
    if (pending == null) {
      return;
    }
    try {
      take(pending, pending.verdict().get(SOON_MS, TimeUnit.MILLISECONDS));
    } catch (ExecutionException e) {
      throw new IllegalStateException("A checker failed", e.getCause());
    } catch (TimeoutException e) {
      // It is judged while the next round works.
    }
  }

  private void take(Pending judged, Verdict verdict) {
    parts += verdict.parts();
    undecided += verdict.undecided();
    violations = verdict.violations();
    if (!passed()) {
      failing = judged.history();
      round = judged.round();
    }
    pending = null;
  }

  Campaign.Result result() {
    return new Campaign.Result(
        seed,
        rounds,
        round,
        operations,
        reads,
        parts,
        undecided,
        Duration.ofNanos(System.nanoTime() - begun),
        calls,
        coverage,
        violations,
        failing);
  }
}
