package dev.lockstep.audit;

/** A pool's own row, and how far its chain has been verified. */
record PoolFacts(
    long pool,
    boolean hasUnits,
    int total,
    int held,
    int sold,
    long auditSeq,
    long markSeq,
    int markHeld,
    int markSold) {}
