package dev.lockstep.tx;

/**
 * A transaction that a Transactor runs and the application's framework knows of: see {@link
 * HostTransactions#share}. Used on the transaction's thread.
 */
public interface SharedTransaction {
  /** For frameworks that do not take part in transactions of others. */
  SharedTransaction NONE =
      new SharedTransaction() {
        @Override
        public void beforeCommit() {}

        @Override
        public void leave() {}

        @Override
        public void ended(Ending ending) {}
      };

  /** How a transaction ended. */
  enum Ending {
    COMMITTED,
    ROLLED_BACK,
    /** The connection was lost during COMMIT. */
    UNKNOWN
  }

  /**
   * The work has returned. The framework's code that waits for the end of a transaction may still
   * write. An exception rolls back.
   */
  void beforeCommit();

  /** The framework's code no longer joins. Called exactly once, whether the work failed or not. */
  void leave();

  /**
   * The transaction has committed, or will not: then its ROLLBACK follows, and its locks are held
   * until that. Called once, after {@link #leave}. An exception changes nothing.
   */
  void ended(Ending ending);
}
