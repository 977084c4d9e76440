package dev.lockstep.hold;

/** A unit that is sold for good, and the hold it was sold with. */
public record SoldUnit(PoolId pool, int unit, HoldId hold) {}
