package dev.lockstep.combine;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;

/**
 * How to recognise a plan when the answer to its COMMIT was lost: by something that only the plan
 * wrote, never by inference.
 */
public sealed interface Trace {

  /**
   * The plan writes nothing, and no companion writes for it. Its answers rest on locked rows and
   * hold whether or not the empty transaction committed.
   */
  record Nothing() implements Trace {}

  /** Rows that only this plan can have written. */
  record OwnRows(Look look) implements Trace {}

  /**
   * The plan writes, but none of its rows identifies it. The combiner adds a batch mark to the
   * transaction.
   *
   * @param scope the shard key of what the plan writes
   * @param now the database's clock, as the plan knows it
   */
  record Mark(long scope, Instant now) implements Trace {}

  /** Checks whether the rows exist. */
  @FunctionalInterface
  interface Look {
    boolean finds(Connection connection) throws SQLException;
  }
}
