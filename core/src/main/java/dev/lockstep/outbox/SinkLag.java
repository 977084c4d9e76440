package dev.lockstep.outbox;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * How far a sink is behind, over all partitions; without the keys that do not flow.
 *
 * @param events committed and not delivered. Counted up to {@link Outbox#MAX_LAG} in each
 *     partition, so that asking stays cheap; at that point it is "at least"
 * @param age of the oldest of them; zero without
 * @param oldestUnsentAt when the oldest of them was appended
 * @param parkedKeys keys that wait for somebody
 * @param waitingKeys keys that failed and are tried again by themselves
 * @param heldBack events of both
 * @param delivered since the sink was defined, repeats included
 */
public record SinkLag(
    String stream,
    String sink,
    long events,
    Duration age,
    Optional<Instant> oldestUnsentAt,
    int parkedKeys,
    int waitingKeys,
    long heldBack,
    long delivered) {}
