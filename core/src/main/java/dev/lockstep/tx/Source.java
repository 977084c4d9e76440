package dev.lockstep.tx;

import java.util.Objects;
import javax.sql.DataSource;

/**
 * Where a Transactor gets its connections.
 *
 * @param manualCommit the connections have auto-commit off, but belong to no other code
 */
record Source(DataSource dataSource, boolean manualCommit) {
  Source {
    Objects.requireNonNull(dataSource, "dataSource is null");
  }
}
