package dev.lockstep.combine;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;

/**
 * By what a plan is recognised when the answer to its COMMIT was lost: something of its own that it
 * wrote, never by inference.
 */
public sealed interface Trace {

  /**
   * It writes nothing, neither itself nor through anybody who writes along. Its answers rest on
   * locked rows and stand whether or not the empty transaction committed.
   */
  record Nothing() implements Trace {}

  /** Rows that only this plan can have written. */
  record Rows(Look look) implements Trace {}

  /**
   * It writes, but no row of it tells whose it is. The combiner adds a mark of the batch to the
   * transaction.
   *
   * @param scope the shard key of what the plan writes
   * @param now the database's clock, as the plan knows it
   */
  record Mark(long scope, Instant now) implements Trace {}

  /** Whether the rows are there. */
  @FunctionalInterface
  interface Look {
    boolean finds(Connection connection) throws SQLException;
  }
}
