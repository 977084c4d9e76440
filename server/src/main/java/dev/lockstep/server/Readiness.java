package dev.lockstep.server;

import java.sql.SQLException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether requests can be served now.
 *
 * @param ready database reachable and migrated
 * @param explanation one sentence, without credentials
 * @param address the database, once there is one
 * @param status what it answered, when it did
 */
record Readiness(
    boolean ready,
    String explanation,
    Optional<DatabaseAddress> address,
    Optional<DatabaseStatus> status) {
  private static final Logger log = LoggerFactory.getLogger(Readiness.class);

  static Readiness starting() {
    return new Readiness(false, "The database is starting.", Optional.empty(), Optional.empty());
  }

  /** Asks the database; blocks. */
  static Readiness of(Database database) {
    Optional<DatabaseAddress> address = Optional.of(database.address());
    try {
      DatabaseStatus status = database.status();
      return status.migrated()
          ? new Readiness(true, "Ready.", address, Optional.of(status))
          : new Readiness(false, "The database is not migrated.", address, Optional.of(status));
    } catch (SQLException e) {
      log.warn("The database does not answer: {}", e.getMessage());
      return new Readiness(false, "The database does not answer.", address, Optional.empty());
    }
  }
}
