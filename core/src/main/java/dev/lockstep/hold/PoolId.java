package dev.lockstep.hold;

/** Identifies a stock within a scope (a product, a layer). Chosen by the caller. */
public record PoolId(long value) implements Comparable<PoolId> {
  @Override
  public int compareTo(PoolId other) {
    return Long.compare(value, other.value);
  }
}
