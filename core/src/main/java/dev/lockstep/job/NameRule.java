package dev.lockstep.job;

import dev.lockstep.sql.StorableText;

/** Checks the names of queues, kinds, lanes, schedules, claimers and unique keys. */
final class NameRule {
  static final int MAX_LENGTH = 200;

  private NameRule() {}

  /**
   * @throws IllegalArgumentException for a blank or too long name, NUL, or an unpaired surrogate
   */
  static void require(String what, String name) {
    StorableText.require(what, name, MAX_LENGTH);
  }
}
