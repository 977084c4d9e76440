package dev.lockstep.server.verify;

import java.util.List;

/**
 * What came of verifying a draw.
 *
 * @param subject one line: whose draw it is, and its size
 * @param checks everything that was looked at, in order
 */
public record Verdict(String subject, List<Check> checks) {
  /**
   * One comparison.
   *
   * @param what what was looked at
   * @param ok whether it is as it has to be
   * @param detail what was found; on a difference, both sides of it
   */
  public record Check(String what, boolean ok, String detail) {}

  public Verdict {
    checks = List.copyOf(checks);
  }

  public boolean ok() {
    return !checks.isEmpty() && checks.stream().allMatch(Check::ok);
  }
}
