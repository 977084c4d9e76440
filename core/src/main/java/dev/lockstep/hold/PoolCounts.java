package dev.lockstep.hold;

/** A pool's counters at one moment; always {@code held + sold <= total}. */
public record PoolCounts(PoolId pool, int total, int held, int sold) {
  public int free() {
    return total - held - sold;
  }
}
