package dev.lockstep.outbox;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A sink's lag over all partitions. Events of parked and waiting keys count apart.
 *
 * @param events committed but not delivered. Counted up to {@link Outbox#MAX_LAG} per partition to
 *     stay cheap; at that point it means "at least"
 * @param age of the oldest of them; zero if there are none
 * @param oldestUnsentAt when the oldest of them was appended
 * @param parkedKeys keys that wait for an operator
 * @param waitingKeys keys that failed and are retried automatically
 * @param heldBack events of parked and waiting keys
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
