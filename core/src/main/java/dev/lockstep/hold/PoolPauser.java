package dev.lockstep.hold;

/**
 * Stops a broken pool. The application that composes the blocks provides it, because blocks do not
 * call each other.
 */
@FunctionalInterface
public interface PoolPauser {
  /** Stops sales from the violation's pool, with its detail as the reason. */
  void pause(StockViolation violation);
}
