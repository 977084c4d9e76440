package dev.lockstep.migration;

import dev.lockstep.fault.PermanentFault;

/** The tables of Lockstep are missing, or not those that this release needs. */
public final class SchemaMismatch extends PermanentFault {
  private static final long serialVersionUID = 1L;

  SchemaMismatch(String message) {
    super(message, null);
  }
}
