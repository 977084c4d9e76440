package dev.lockstep.lab;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A step as it was played. Times are microseconds since the run began.
 *
 * @param number in the script, from 1
 * @param session that ran it
 * @param sql what was sent, or what the code did, in words
 * @param parameters bound to its question marks
 * @param note what the application thinks or does meanwhile; may be empty
 * @param startedUs when it was sent
 * @param blockedUs when it was proved to wait; empty if it never was
 * @param finishedUs when its outcome arrived
 * @param blockedBy the sessions it waited for
 * @param awaitedLock the lock it waited for, as {@code pg_locks} names it
 * @param outcome its result
 */
public record PlayedStep(
    int number,
    String session,
    String sql,
    List<String> parameters,
    String note,
    long startedUs,
    OptionalLong blockedUs,
    long finishedUs,
    List<String> blockedBy,
    Optional<String> awaitedLock,
    Outcome outcome) {
  public PlayedStep {
    parameters = List.copyOf(parameters);
    blockedBy = List.copyOf(blockedBy);
  }
}
