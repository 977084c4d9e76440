package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A job that runs, but not under the present lease of its shard: its row is marked, {@code
 * job_away} has a record of it, or it is claimed. Its lane waits for it.
 *
 * @param member the node that runs it; for a claim, the claim's token
 */
record Straggler(JobId id, String queue, Priority priority, @Nullable String lane, UUID member) {
  /** From a marked row. */
  static Straggler of(JobRow row, UUID markedBy) {
    return new Straggler(row.id(), row.queue(), row.priority(), row.lane(), markedBy);
  }

  /** Reads records or claims of these shards, with the shards as the first parameter. */
  static List<Straggler> list(
      Transactor transactor,
      TxOptions options,
      String sql,
      Collection<Lease> leases,
      Object... more) {
    List<Object> parameters = new ArrayList<>();
    parameters.add(
        SqlArray.smallints(leases.stream().map(lease -> (short) lease.shard()).toList()));
    Collections.addAll(parameters, more);
    return transactor.call(
        options.asReadOnly(),
        connection -> RoundTrip.list(connection, sql, Straggler::read, parameters.toArray()));
  }

  /** From a record, or from a claim with its token as {@code member}. */
  private static Straggler read(ResultSet row) throws SQLException {
    return new Straggler(
        new JobId(row.getObject("id", UUID.class)),
        row.getString("queue"),
        Priority.of(row.getInt("priority")),
        row.getString("lane"),
        row.getObject("member", UUID.class));
  }
}
