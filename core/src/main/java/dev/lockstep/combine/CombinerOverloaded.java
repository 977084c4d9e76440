package dev.lockstep.combine;

import dev.lockstep.fault.TransientFault;
import java.time.Duration;

/** The queue is full. Nothing was changed; {@link #retryAfter()} says when to expect room. */
public final class CombinerOverloaded extends TransientFault {
  private static final long serialVersionUID = 1L;

  private final transient Combiner<?, ?, ?> combiner;
  private final Duration retryAfter;

  CombinerOverloaded(Combiner<?, ?, ?> combiner, String name, int waiting, Duration retryAfter) {
    super(
        "%s: %d requests are waiting; try again in %d ms"
            .formatted(name, waiting, retryAfter.toMillis()),
        null);
    this.combiner = combiner;
    this.retryAfter = retryAfter;
  }

  /** Whether this combiner's queue is full. A companion may have asked another one. */
  boolean isOf(Combiner<?, ?, ?> one) {
    return combiner == one;
  }

  public Duration retryAfter() {
    return retryAfter;
  }
}
