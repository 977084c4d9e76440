package dev.lockstep.server.api;

import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.OnceKey;

/**
 * A request on its way through a combiner with its idempotency key.
 *
 * @param subject what the request is about
 */
public record Ticket<T>(T subject, OnceKey key, Fingerprint fingerprint) implements Keyed {}
