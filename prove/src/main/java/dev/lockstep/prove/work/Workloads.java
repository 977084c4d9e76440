package dev.lockstep.prove.work;

import java.util.List;

/** All kinds of work, by name. */
public final class Workloads {
  public static final List<String> NAMES =
      List.of("holds", "once", "jobs", "outbox", "ledger", "tx", "sales", "purchases");

  private Workloads() {}

  /** A round's work of one kind. */
  public static Workload of(String name, Round round, long seed) {
    return switch (name) {
      case "holds" -> new HoldWork(round);
      case "once" -> new OnceWork(round);
      case "jobs" -> new JobWork(round);
      case "outbox" -> new OutboxWork(round, seed);
      case "ledger" -> new LedgerWork(round);
      case "tx" -> new ListWork(round);
      case "sales" -> new SaleWork(round);
      case "purchases" -> new ShopWork(round);
      default -> throw new IllegalArgumentException("Unknown workload " + name);
    };
  }
}
