package dev.lockstep.audit;

/** How a broken pool is stopped: given by whoever composes the blocks. */
@FunctionalInterface
public interface PoolPauser {
  /** Stops selling from the pool of the violation, with its detail as the reason. */
  void pause(Violation violation);
}
