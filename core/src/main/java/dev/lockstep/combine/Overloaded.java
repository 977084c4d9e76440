package dev.lockstep.combine;

import dev.lockstep.fault.TransientFault;
import java.time.Duration;

/** The queue is full. Nothing was changed; {@link #retryAfter()} says when to expect room. */
public final class Overloaded extends TransientFault {
  private static final long serialVersionUID = 1L;

  private final Duration retryAfter;

  Overloaded(String combiner, int waiting, Duration retryAfter) {
    super(
        "%s: %d requests are waiting; try again in %d ms"
            .formatted(combiner, waiting, retryAfter.toMillis()),
        null);
    this.retryAfter = retryAfter;
  }

  public Duration retryAfter() {
    return retryAfter;
  }
}
