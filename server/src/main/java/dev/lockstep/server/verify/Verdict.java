package dev.lockstep.server.verify;

import java.util.List;

/**
 * The result of a verification.
 *
 * @param subject one line: the draw's campaign and size
 * @param checks all comparisons, in order
 */
public record Verdict(String subject, List<Check> checks) {
  /**
   * One comparison.
   *
   * @param what its subject
   * @param ok whether it holds
   * @param detail what was found; for a difference, both sides
   */
  public record Check(String what, boolean ok, String detail) {}

  public Verdict {
    checks = List.copyOf(checks);
  }

  public boolean ok() {
    return !checks.isEmpty() && checks.stream().allMatch(Check::ok);
  }
}
