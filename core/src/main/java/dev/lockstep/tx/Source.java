package dev.lockstep.tx;

import javax.sql.DataSource;

/**
 * Where a Transactor gets its connections.
 *
 * @param manualCommit they are nobody else's, though they are not in auto-commit mode
 */
record Source(DataSource dataSource, boolean manualCommit) {}
