package dev.lockstep.server.http;

import dev.lockstep.server.api.Trouble;
import dev.lockstep.server.database.Database;
import dev.lockstep.server.database.DatabaseAddress;
import dev.lockstep.server.database.DatabaseStatus;
import dev.lockstep.server.database.DatabaseWatch;
import java.util.Optional;

/**
 * Whether requests can be served now.
 *
 * @param ready whether the database is migrated and writes work
 * @param explanation one sentence, without credentials
 * @param address the database, once there is one
 * @param status its last reported state
 */
record Readiness(
    boolean ready,
    String explanation,
    Optional<DatabaseAddress> address,
    Optional<DatabaseStatus> status) {
  static Readiness starting() {
    return new Readiness(false, "The database is starting.", Optional.empty(), Optional.empty());
  }

  /** The watch's state, from memory. */
  static Readiness of(Database database) {
    DatabaseWatch.Finding finding = database.finding();
    boolean migrated = finding.status().map(DatabaseStatus::migrated).orElse(false);
    String explanation =
        finding
            .trouble()
            .map(Trouble::sentence)
            .orElse(migrated ? "Ready." : "The database is not migrated.");
    return new Readiness(
        finding.trouble().isEmpty() && migrated,
        explanation,
        Optional.of(database.address()),
        finding.status());
  }
}
