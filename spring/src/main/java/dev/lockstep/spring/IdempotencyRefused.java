package dev.lockstep.spring;

import dev.lockstep.fault.PermanentFault;

/** A call of an {@link Idempotent} method was refused because of its key. */
public final class IdempotencyRefused extends PermanentFault {
  private static final long serialVersionUID = 1L;

  private final boolean inUse;

  IdempotencyRefused(String message, boolean inUse) {
    super(message, null);
    this.inUse = inUse;
  }

  /** True if the key's first request is still under way; false if its request was another one. */
  public boolean isInUse() {
    return inUse;
  }
}
