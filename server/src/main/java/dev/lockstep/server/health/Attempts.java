package dev.lockstep.server.health;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.tx.TxAttempt;
import dev.lockstep.tx.TxListener;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts attempts at transactions of this node and how they failed, since its start. PostgreSQL
 * itself counts deadlocks, and no serialization failures.
 */
final class Attempts implements TxListener {
  private final LongAdder all = new LongAdder();
  private final LongAdder conflicts = new LongAdder();
  private final LongAdder lockTimeouts = new LongAdder();

  @Override
  public void onAttempt(TxAttempt attempt) {
    all.increment();
    attempt
        .fault()
        .ifPresent(
            fault -> {
              if (fault == SqlFault.SERIALIZATION) {
                conflicts.increment();
              } else if (fault == SqlFault.LOCK_TIMEOUT) {
                lockTimeouts.increment();
              }
            });
  }

  long all() {
    return all.sum();
  }

  long conflicts() {
    return conflicts.sum();
  }

  long lockTimeouts() {
    return lockTimeouts.sum();
  }
}
