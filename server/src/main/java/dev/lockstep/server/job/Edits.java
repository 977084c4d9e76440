package dev.lockstep.server.job;

import dev.lockstep.job.EditResult;
import dev.lockstep.server.act.Act;
import dev.lockstep.server.api.Request;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.OptionalInt;

/** What edits of jobs and edits of schedules share. */
public final class Edits {
  private Edits() {}

  /**
   * Records the action if the edit changed something. The caller commits.
   *
   * @param affected how many jobs it changed
   */
  public static EditResult recorded(Connection connection, Act act, EditResult result, int affected)
      throws SQLException {
    if (result instanceof EditResult.Changed) {
      JobActs.record(connection, act, affected);
    }
    return result;
  }

  /**
   * The version that must still be current: the one the client saw, if the client named it. Without
   * one, any version will do.
   */
  public static OptionalInt namedVersion(Request request, int seen) {
    return request.header("If-Match").isPresent() ? OptionalInt.of(seen) : OptionalInt.empty();
  }
}
