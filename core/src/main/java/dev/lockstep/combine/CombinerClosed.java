package dev.lockstep.combine;

import dev.lockstep.tx.TransientFault;

/** The combiner was closed before the request was begun. Nothing was done. */
public final class CombinerClosed extends TransientFault {
  private static final long serialVersionUID = 1L;

  CombinerClosed(String combiner) {
    super(combiner + ": closed", null);
  }
}
