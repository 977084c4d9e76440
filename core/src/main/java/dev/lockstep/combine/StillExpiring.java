package dev.lockstep.combine;

import dev.lockstep.fault.TransientFault;

/**
 * The command can be neither granted nor refused yet: something has expired that may cure the
 * refusal (a hold, a pending transfer), but another transaction has it locked, or there was too
 * much to end in time. Nothing was changed; try again.
 */
public final class StillExpiring extends TransientFault {
  private static final long serialVersionUID = 1L;

  StillExpiring(String what) {
    super("Not all expired %s are ended yet; try again".formatted(what), null);
  }
}
