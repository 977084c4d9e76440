package dev.lockstep.lab;

import dev.lockstep.tx.Isolation;
import java.time.Instant;
import java.util.List;

/**
 * A run of a scenario: the steps, what each session saw, and the verdict.
 *
 * @param scenario what was played
 * @param isolation the level of its transactions
 * @param variant which script
 * @param serverVersion of PostgreSQL, {@code 18.6}
 * @param startedAt by this machine's clock
 * @param tookUs microseconds from the first step to the last
 * @param setup the statements that created the initial state
 * @param sessions names, in column order
 * @param steps by number
 * @param finalState the tables after all sessions have ended
 * @param verdict computed from all of it
 */
public record Timeline(
    Scenario scenario,
    Isolation isolation,
    Variant variant,
    String serverVersion,
    Instant startedAt,
    long tookUs,
    List<String> setup,
    List<String> sessions,
    List<PlayedStep> steps,
    Outcome.Rows finalState,
    Verdict verdict) {
  public Timeline {
    setup = List.copyOf(setup);
    sessions = List.copyOf(sessions);
    steps = List.copyOf(steps);
  }
}
