package dev.lockstep.tx;

/**
 * Receives every attempt after it ended. Runs on the caller's thread, so it must be quick. An
 * exception it throws is logged and changes nothing.
 */
@FunctionalInterface
public interface TxListener {
  void onAttempt(TxAttempt attempt);
}
