package dev.lockstep.combine;

import dev.lockstep.tx.TransientFault;

/**
 * Nobody can say yet whether the command is to be refused: something has expired that may cure the
 * refusal (a hold, a pending transfer), and somebody else has it locked, or it is more than the
 * time was enough to end. Nothing was changed; try again.
 */
public final class StillExpiring extends TransientFault {
  private static final long serialVersionUID = 1L;

  StillExpiring(String what) {
    super("Expired %s are not all ended yet; try again".formatted(what), null);
  }
}
