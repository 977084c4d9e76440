package dev.lockstep.hold;

/** A campaign, a shop: what carts, limits and batches stay inside of. Chosen by the caller. */
public record ScopeId(long value) {}
