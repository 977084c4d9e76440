package dev.lockstep.tx;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * A constraint refused a round trip with a statement in it that guards itself by one. Either
 * another transaction was faster, or a statement of another party on the same trip was refused for
 * good, and the next attempt has to tell the two apart.
 */
final class GuardFailed extends SQLException {
  private static final long serialVersionUID = 1L;

  private final boolean certain;

  private GuardFailed(String message, SQLException refused, boolean certain) {
    super(message, SqlFault.CONFLICT, refused);
    this.certain = certain;
  }

  /** It was the guard, unless the constraint is one that is checked by COMMIT. */
  static GuardFailed surely(String message, SQLException refused) {
    return new GuardFailed(message, refused, true);
  }

  /** It was the guard, or a statement of somebody else. */
  static GuardFailed perhaps(SQLException refused) {
    return new GuardFailed("Refused in a trip that several share", refused, false);
  }

  boolean certain() {
    return certain;
  }

  /** Null: no guard failed. */
  static @Nullable GuardFailed behind(Throwable thrown) {
    int depth = 0;
    for (Throwable t = thrown; t != null && depth < 20; t = t.getCause(), depth++) {
      if (t instanceof GuardFailed failed) {
        return failed;
      }
    }
    return null;
  }
}
