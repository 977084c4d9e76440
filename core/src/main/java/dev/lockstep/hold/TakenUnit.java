package dev.lockstep.hold;

/**
 * A unit that is not free.
 *
 * @param hold whose it is
 * @param state held or sold: every other end of a hold gives its units back
 */
public record TakenUnit(PoolId pool, int unit, HoldId hold, HoldState state) {}
