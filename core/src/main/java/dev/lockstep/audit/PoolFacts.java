package dev.lockstep.audit;

/**
 * A pool's own row, and how far its chain has been verified.
 *
 * @param wasBroken the last check found it broken
 * @param from where this check begins
 */
record PoolFacts(
    long pool,
    boolean hasUnits,
    int total,
    int held,
    int sold,
    long auditSeq,
    boolean wasBroken,
    Mark from) {

  /** A place in the audit chain, and the counters and the total there. */
  record Mark(long seq, int held, int sold, int total) {
    /** Before the first change of stock. */
    static final Mark START = new Mark(0, 0, 0, 0);
  }

  PoolFacts fromTheStart() {
    return new PoolFacts(pool, hasUnits, total, held, sold, auditSeq, wasBroken, Mark.START);
  }

  /** Where the chain should be by now. */
  Mark now() {
    return new Mark(auditSeq, held, sold, total);
  }
}
