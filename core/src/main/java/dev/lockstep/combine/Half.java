package dev.lockstep.combine;

/**
 * What of its key a request touches. Batches of the two halves of a key may be under way at the
 * same time; one that touches both is alone with its key.
 */
public enum Half {
  LEFT,
  RIGHT,
  BOTH;

  /** The half that an id belongs to: as good as drawn by lot, and the same in every process. */
  public static Half of(long id) {
    // The golden ratio in 64 bits spreads neighbouring ids, and those that are all even.
    return id * 0x9E3779B97F4A7C15L < 0 ? LEFT : RIGHT;
  }

  /** What is touched by who touches this and that. */
  public Half with(Half other) {
    return this == other ? this : BOTH;
  }
}
