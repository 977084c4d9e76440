package dev.lockstep.job;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A queue at one moment.
 *
 * @param rateLimit starts a second over all nodes, if limited
 * @param oldestDue the due time of the job that has waited longest
 */
public record QueueView(
    String name,
    boolean paused,
    OptionalDouble rateLimit,
    long scheduled,
    long ready,
    long dead,
    Optional<Instant> oldestDue) {}
