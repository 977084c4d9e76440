package dev.lockstep.job;

import java.util.UUID;

/**
 * Names a job, and says in its last ten bits in which shard it is, so that it can be found without
 * an index over all shards. Otherwise a UUID of version 7.
 */
public record JobId(UUID value) implements Comparable<JobId> {
  static final int SHARD_BITS = 10;
  private static final long SHARD_MASK = (1L << SHARD_BITS) - 1;

  static JobId of(long high, long low, int shard) {
    return new JobId(new UUID(high, (low & ~SHARD_MASK) | shard));
  }

  /**
   * From its text.
   *
   * @throws IllegalArgumentException if it is no UUID
   */
  public static JobId of(String text) {
    return new JobId(UUID.fromString(text));
  }

  int shard() {
    return (int) (value.getLeastSignificantBits() & SHARD_MASK);
  }

  /**
   * Ids that were made together differ in a few bits, which UUID's own hash leaves where they are:
   * hundreds of them in one place of a map.
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
