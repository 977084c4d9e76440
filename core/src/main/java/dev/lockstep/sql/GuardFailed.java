package dev.lockstep.sql;

import dev.lockstep.fault.SqlFault;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * A constraint refused a round trip that contains a guarded statement. Either another transaction
 * was faster, or a statement of another party on the same trip is wrong for good. The next attempt
 * tells the two apart.
 */
public final class GuardFailed extends SQLException {
  private static final long serialVersionUID = 1L;

  private final boolean certain;

  private GuardFailed(String message, SQLException refused, boolean certain) {
    super(message, SqlFault.CONFLICT, refused);
    this.certain = certain;
  }

  /**
   * As {@link SqlFault#conflict}, for a guard that is a table constraint; any other failure passes
   * unchanged. For {@link RoundTrip#guarded}: the exception must come from the guard's own
   * statement.
   */
  public static SQLException orConflict(SQLException thrown, String message) {
    return SqlFault.of(thrown) == SqlFault.CONSTRAINT ? certainly(message, thrown) : thrown;
  }

  /** The guard failed, unless the constraint is one that COMMIT checks. */
  private static GuardFailed certainly(String message, SQLException refused) {
    return new GuardFailed(message, refused, true);
  }

  /** The guard failed, or another party's statement did. */
  static GuardFailed perhaps(SQLException refused) {
    return new GuardFailed(
        "A constraint refused a round trip that several parties share", refused, false);
  }

  /** False if the failure may be another party's, which shares the round trip. */
  public boolean certain() {
    return certain;
  }

  /** Null if no guard failed. */
  public static @Nullable GuardFailed behind(Throwable thrown) {
    int depth = 0;
    for (Throwable t = thrown; t != null && depth < 20; t = t.getCause(), depth++) {
      if (t instanceof GuardFailed failed) {
        return failed;
      }
    }
    return null;
  }
}
