package dev.lockstep.job;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A queue at one moment.
 *
 * @param rateLimit starts a second over all nodes, if limited
 * @param ready due; short ones that are running at this moment are counted here
 * @param running marked as running
 * @param doneLastMinute how many were done in the last minute; 0 where no history is kept
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
