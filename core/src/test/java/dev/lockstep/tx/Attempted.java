package dev.lockstep.tx;

import dev.lockstep.fault.SqlFault;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A listener that keeps what it hears. */
final class Attempted implements TxListener {
  private final List<TxAttempt> attempts = new CopyOnWriteArrayList<>();

  @Override
  public void onAttempt(TxAttempt attempt) {
    attempts.add(attempt);
  }

  List<TxAttempt> attempts() {
    return attempts;
  }

  List<TxAttempt.TxOutcome> outcomes() {
    return attempts.stream().map(TxAttempt::outcome).toList();
  }

  long faults(SqlFault fault) {
    return attempts.stream().filter(a -> a.fault().filter(fault::equals).isPresent()).count();
  }
}
