package dev.lockstep.prove.fault;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Which fault hit which phase of which block's transactions, how often. Thread-safe. */
public final class Coverage {
  /** The kinds of transactions told apart. */
  public static final List<String> SUBJECTS =
      List.of(
          "hold", "once", "job", "outbox", "ledger", "tx", "sale", "purchase", "shard", "other");

  private record Cell(Fault fault, String subject, Phase phase) {}

  private final Map<Cell, LongAdder> cells = new ConcurrentHashMap<>();
  private final Map<Fault, LongAdder> injections = new ConcurrentHashMap<>();

  void injected(Fault fault) {
    injections.computeIfAbsent(fault, f -> new LongAdder()).increment();
  }

  void hit(Fault fault, String subject, Phase phase) {
    cells.computeIfAbsent(new Cell(fault, subject, phase), c -> new LongAdder()).increment();
  }

  public long injections(Fault fault) {
    LongAdder count = injections.get(fault);
    return count == null ? 0 : count.sum();
  }

  public long hits(Fault fault, String subject, Phase phase) {
    LongAdder count = cells.get(new Cell(fault, subject, phase));
    return count == null ? 0 : count.sum();
  }

  /** The phases a fault can hit: a cut at COMMIT hits only that, the bank's faults none. */
  public static List<Phase> phases(Fault fault) {
    if (fault.lane() == Fault.Lane.BANK) {
      return List.of();
    }
    return switch (fault) {
      case CUT_BEFORE_COMMIT, CUT_DURING_COMMIT, SLOW_COMMIT -> List.of(Phase.COMMIT);
      case CUT_AFTER_COMMIT -> List.of(Phase.COMMITTED);
      default -> List.of(Phase.STATEMENT, Phase.OPEN, Phase.COMMIT);
    };
  }

  /** The cells of these faults that were never hit. */
  public List<String> missing(List<Fault> faults) {
    List<String> missing = new ArrayList<>();
    for (Fault fault : faults) {
      for (String subject : SUBJECTS) {
        for (Phase phase : phases(fault)) {
          if (hits(fault, subject, phase) == 0) {
            missing.add(fault.word() + " / " + subject + " / " + phase);
          }
        }
      }
    }
    return missing;
  }
}
