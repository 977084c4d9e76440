package dev.lockstep.server.job;

import dev.lockstep.job.EditResult;
import dev.lockstep.server.act.Act;
import dev.lockstep.server.api.Request;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.OptionalInt;

/** What editing a job and editing a schedule have in common. */
public final class Edits {
  private Edits() {}

  /**
   * Keeps the act if the edit changed something. The caller commits.
   *
   * @param affected how many jobs it changed
   */
  public static EditResult recorded(Connection connection, Act act, EditResult result, int affected)
      throws SQLException {
    if (result instanceof EditResult.Edited) {
      JobActs.record(connection, act, affected);
    }
    return result;
  }

  /**
   * The version that has to be there still: the one that was seen, if the caller named it. A caller
   * who named none means whatever is there by now.
   */
  public static OptionalInt namedVersion(Request request, int seen) {
    return request.header("If-Match").isPresent() ? OptionalInt.of(seen) : OptionalInt.empty();
  }
}
