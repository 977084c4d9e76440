package dev.lockstep.job;

import java.time.Instant;
import java.util.Optional;

/**
 * A schedule as the database had it at one moment.
 *
 * @param nextAt when it runs next; empty: never again
 * @param version changes with every edit, but not when it runs
 */
public record Schedule(ScheduleId id, NewSchedule content, Optional<Instant> nextAt, int version) {}
