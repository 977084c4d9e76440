package dev.lockstep.combine;

/**
 * An answer that may be no answer yet: something has expired that could turn a refusal into a
 * grant, and is still to be ended. Whoever implements it carries no outcome then, so that nothing
 * that is only provisional can reach a caller; {@link Asker} asks again.
 */
public interface Provisional {
  /** Whether the request must be decided again. */
  boolean again();

  /** Whether it waits for nothing but the next batch, and nothing has to expire for that. */
  default boolean putOff() {
    return false;
  }

  /** How much of what had expired the batch has ended. */
  int swept();
}
