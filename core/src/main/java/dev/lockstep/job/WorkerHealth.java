package dev.lockstep.job;

import java.util.List;

/**
 * How a worker is at this moment.
 *
 * @param problems one sentence each, for people; empty: it is well
 */
public record WorkerHealth(List<String> problems) {
  public WorkerHealth {
    problems = List.copyOf(problems);
  }

  public boolean isHealthy() {
    return problems.isEmpty();
  }
}
