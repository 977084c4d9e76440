package dev.lockstep.job;

import java.util.List;

/**
 * A worker's health at one moment.
 *
 * @param problems one sentence each, for people; empty: healthy
 */
public record WorkerHealth(List<String> problems) {
  public WorkerHealth {
    problems = List.copyOf(problems);
  }

  public boolean isHealthy() {
    return problems.isEmpty();
  }
}
