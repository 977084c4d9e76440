package dev.lockstep.outbox;

import java.time.Instant;
import java.util.Optional;

/**
 * A key that does not flow to a sink.
 *
 * @param seq the event that is to be sent next
 * @param attempts how often that failed
 * @param error how it failed last; empty after a skip or a replay
 * @param retryAt when it is tried again by itself; empty: parked, until somebody says otherwise
 */
public record ParkedKey(
    String key,
    long seq,
    int attempts,
    String error,
    Instant parkedAt,
    Optional<Instant> retryAt) {}
