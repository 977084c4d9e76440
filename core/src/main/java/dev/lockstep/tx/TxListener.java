package dev.lockstep.tx;

/**
 * Hears of every attempt when it has ended. Called on the caller's thread, so it must be quick;
 * what it throws is logged and changes nothing.
 */
@FunctionalInterface
public interface TxListener {
  void onAttempt(TxAttempt attempt);
}
