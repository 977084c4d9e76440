package dev.lockstep.prove.fault;

/** Where a connection's transaction is when something hits it. */
public enum Phase {
  /** No transaction. */
  IDLE,
  /** A statement is under way. */
  STATEMENT,
  /** A transaction waits for its client. */
  OPEN,
  /** COMMIT was sent and not answered. */
  COMMIT,
  /** COMMIT was answered, and the client does not know yet. */
  COMMITTED
}
