package dev.lockstep.hold;

/**
 * A unit that is not free.
 *
 * @param hold the hold that has it
 * @param state held or sold; every other state gives the units back
 */
public record TakenUnit(PoolId pool, int unit, HoldId hold, HoldState state) {}
