package dev.lockstep.outbox;

import java.time.Instant;
import java.util.Optional;

/**
 * A key whose delivery to a sink is blocked.
 *
 * @param seq the event to be sent next
 * @param attempts how often it failed
 * @param error the last failure; empty after a skip or a replay
 * @param retryAt when it is retried automatically; empty: parked until an operator acts
 */
public record ParkedKey(
    String key,
    long seq,
    int attempts,
    String error,
    Instant parkedAt,
    Optional<Instant> retryAt) {}
