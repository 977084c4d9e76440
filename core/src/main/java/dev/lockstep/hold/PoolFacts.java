package dev.lockstep.hold;

/**
 * A pool's row, and how far its audit chain was verified.
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

  /** A position in the audit chain, with the counters and the total there. */
  record Mark(long seq, int held, int sold, int total) {
    /** Before the first stock change. */
    static final Mark START = new Mark(0, 0, 0, 0);
  }

  PoolFacts fromTheStart() {
    return new PoolFacts(pool, hasUnits, total, held, sold, auditSeq, wasBroken, Mark.START);
  }

  /** Where the chain should be now. */
  Mark now() {
    return new Mark(auditSeq, held, sold, total);
  }
}
