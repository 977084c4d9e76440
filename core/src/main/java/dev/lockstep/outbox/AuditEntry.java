package dev.lockstep.outbox;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * An action on a stream's sinks.
 *
 * @param action add, change, remove, retry, skip, replay, give-up or restored
 */
public record AuditEntry(
    long id,
    Instant at,
    String actor,
    String action,
    String stream,
    Optional<String> sink,
    Optional<String> key,
    OptionalLong seq,
    String reason) {}
