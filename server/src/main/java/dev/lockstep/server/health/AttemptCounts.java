package dev.lockstep.server.health;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.tx.TxAttempt;
import dev.lockstep.tx.TxListener;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts this node's transaction attempts and failures since its start. PostgreSQL counts
 * deadlocks, but not serialization failures.
 */
final class AttemptCounts implements TxListener {
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
