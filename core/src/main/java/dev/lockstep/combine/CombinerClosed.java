package dev.lockstep.combine;

import dev.lockstep.fault.TransientFault;

/** The combiner was closed before the request began. Nothing was changed. */
public final class CombinerClosed extends TransientFault {
  private static final long serialVersionUID = 1L;

  CombinerClosed(String combiner) {
    super(combiner + ": closed before the request began", null);
  }
}
