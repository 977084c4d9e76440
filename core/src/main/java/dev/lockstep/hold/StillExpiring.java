package dev.lockstep.hold;

import dev.lockstep.tx.TransientFault;

/**
 * Nobody can say yet whether the command is to be refused: holds have expired that may cure the
 * refusal, and somebody else has them locked, or they are more than the time was enough to take
 * back. Nothing was changed; try again.
 */
public final class StillExpiring extends TransientFault {
  private static final long serialVersionUID = 1L;

  StillExpiring(ScopeId scope) {
    super(
        "Expired holds of scope %d are not all taken back yet; try again".formatted(scope.value()),
        null);
  }
}
