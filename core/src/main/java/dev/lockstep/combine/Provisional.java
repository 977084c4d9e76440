package dev.lockstep.combine;

/**
 * An answer that may not be final: something has expired that could turn a refusal into a grant,
 * and is not ended yet. An implementation carries no outcome in that case, so no provisional result
 * can reach a caller. {@link Asker} asks again.
 */
public interface Provisional {
  /** Whether the request must be decided again. */
  boolean again();

  /** Whether the request only has to wait for the next batch, not for an expiry. */
  default boolean putOff() {
    return false;
  }

  /** How many expired items the batch ended. */
  int swept();
}
