package dev.lockstep.sql;

import dev.lockstep.fault.SqlFault;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * A constraint refused a round trip that contains a guarded statement. Either another transaction
 * was faster, or a statement of another party on the same trip is wrong for good. The next attempt
 * tells the two apart.
 */
final class GuardFailed extends SQLException {
  private static final long serialVersionUID = 1L;

  private final boolean certain;

  private GuardFailed(String message, SQLException refused, boolean certain) {
    super(message, SqlFault.CONFLICT, refused);
    this.certain = certain;
  }

  /** The guard failed, unless the constraint is one that COMMIT checks. */
  static GuardFailed surely(String message, SQLException refused) {
    return new GuardFailed(message, refused, true);
  }

  /** The guard failed, or another party's statement did. */
  static GuardFailed perhaps(SQLException refused) {
    return new GuardFailed(
        "A constraint refused a round trip that several parties share", refused, false);
  }

  boolean certain() {
    return certain;
  }

  /** Null if no guard failed. */
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
