package dev.lockstep.job;

import dev.lockstep.sql.SqlArray;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.UUID;

/**
 * Identifies a job. The last ten bits are its shard, so a lookup by id needs no index over all
 * shards. Otherwise a version 7 UUID.
 */
public record JobId(UUID value) implements Comparable<JobId> {
  static final int SHARD_BITS = 10;
  private static final long SHARD_MASK = (1L << SHARD_BITS) - 1;

  static JobId of(long high, long low, int shard) {
    return new JobId(new UUID(high, (low & ~SHARD_MASK) | shard));
  }

  /**
   * Parses an id.
   *
   * @throws IllegalArgumentException if the text is not a UUID
   */
  public static JobId of(String text) {
    return new JobId(UUID.fromString(text));
  }

  /** Reads the id in a row's first column. */
  static JobId read(ResultSet row) throws SQLException {
    return new JobId(row.getObject(1, UUID.class));
  }

  /** The parameters of {@code unnest(?, ?) AS x (shard, id)}. */
  static Object[] arrays(Collection<JobId> jobs) {
    return new Object[] {
      SqlArray.smallints(jobs.stream().map(id -> (short) id.shard()).toList()),
      SqlArray.uuids(jobs.stream().map(JobId::value).toList())
    };
  }

  int shard() {
    return (int) (value.getLeastSignificantBits() & SHARD_MASK);
  }

  /**
   * Ids made together differ in few bits, and UUID's own hash would put hundreds of them into one
   * bucket.
   */
  @Override
  public int hashCode() {
    long both = 31 * value.getMostSignificantBits() + value.getLeastSignificantBits();
    return (int) ((both * 0x9E37_79B9_7F4A_7C15L) >>> 32);
  }

  @Override
  public int compareTo(JobId other) {
    int high =
        Long.compareUnsigned(value.getMostSignificantBits(), other.value.getMostSignificantBits());
    return high != 0
        ? high
        : Long.compareUnsigned(
            value.getLeastSignificantBits(), other.value.getLeastSignificantBits());
  }

  @Override
  public String toString() {
    return value.toString();
  }
}
