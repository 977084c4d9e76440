package dev.lockstep.server.database;

import dev.lockstep.server.lifecycle.CannotStart;
import java.util.Optional;

/**
 * The supported PostgreSQL releases, in the form of {@code server_version_num} (18.6 is 180006).
 */
final class SupportedVersion {
  private static final int OLDEST_MAJOR = 14;
  private static final int NEWEST_TESTED_MAJOR = 18;
  private static final int MAJOR_UNIT = 10_000;

  private SupportedVersion() {}

  /**
   * Refuses a release that is too old.
   *
   * @return a warning about one newer than any tested
   */
  static Optional<String> check(int serverVersionNum) {
    int major = serverVersionNum / MAJOR_UNIT;
    if (major < OLDEST_MAJOR) {
      throw new CannotStart(
          "the database is PostgreSQL "
              + major
              + ", and Lockstep needs "
              + OLDEST_MAJOR
              + " or later; upgrade it or choose another with --database-url");
    }
    return major <= NEWEST_TESTED_MAJOR
        ? Optional.empty()
        : Optional.of(
            "PostgreSQL "
                + major
                + " is not tested; "
                + OLDEST_MAJOR
                + " to "
                + NEWEST_TESTED_MAJOR
                + " are");
  }
}
