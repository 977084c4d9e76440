package dev.lockstep.tx;

import dev.lockstep.testkit.TestDatabase;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** What a test awaits before it takes the next step of an interleaving: events, never an age. */
public final class Await {
  private static final String BLOCKED =
      """
      SELECT count(*) FROM pg_stat_activity
       WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0
      """;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** For who is to be found waiting: it does not give up before it was looked for. */
  public static final TxOptions PATIENTLY =
      TxOptions.DEFAULT
          .withDeadline(PATIENCE.multipliedBy(2))
          .withStatementTimeout(PATIENCE.multipliedBy(2))
          .withLockTimeout(PATIENCE.multipliedBy(2));

  private Await() {}

  /**
   * Returns when the server says that at least so many sessions of the database wait for a lock of
   * another session.
   */
  public static void blocked(TestDatabase database, int sessions) {
    until(sessions + " sessions wait for a lock", () -> database.queryLong(BLOCKED) >= sessions);
  }

  /** Returns when the condition holds, which some other thread or process makes true. */
  public static void until(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("Never came true: " + what);
      }
      // Between two questions to the server; no test relies on its length.
      LockSupport.parkNanos(1_000_000);
    }
  }
}
