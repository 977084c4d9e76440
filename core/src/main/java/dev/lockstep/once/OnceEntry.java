package dev.lockstep.once;

/** A key with its request and answer, for writing many at once. */
public record OnceEntry(OnceKey key, Fingerprint fingerprint, String answer) {}
