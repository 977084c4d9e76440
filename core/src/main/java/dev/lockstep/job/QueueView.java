package dev.lockstep.job;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A queue at one moment.
 *
 * @param rateLimit starts per second over all nodes, if limited
 * @param ready due jobs; includes running jobs that are not marked yet
 * @param running jobs marked as running, or claimed
 * @param doneLastMinute jobs done in the last minute; 0 if no history is kept
 * @param oldestDue the due time of the job that has waited longest
 */
public record QueueView(
    String name,
    boolean paused,
    OptionalDouble rateLimit,
    long scheduled,
    long ready,
    long running,
    long dead,
    long doneLastMinute,
    Optional<Instant> oldestDue) {}
