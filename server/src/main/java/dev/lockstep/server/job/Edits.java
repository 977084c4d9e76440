package dev.lockstep.server.job;

import dev.lockstep.job.EditResult;
import dev.lockstep.server.act.Act;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.cases.Cases;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/** What edits of jobs and edits of schedules share. */
public final class Edits {
  /** The problem of an edit, given the one to report if its subject is gone; empty if it worked. */
  private static final Cases<EditResult, Function<Problem, Optional<Problem>>> REFUSALS =
      Cases.<EditResult, Function<Problem, Optional<Problem>>>over(EditResult.class)
          .when(EditResult.Edited.class, edited -> whenGone -> Optional.empty())
          .when(
              EditResult.Stale.class,
              stale -> whenGone -> Optional.of(Problem.versionMismatch(stale.currentVersion())))
          .when(EditResult.OfSchedule.class, tick -> whenGone -> Optional.of(ofSchedule()))
          .when(EditResult.Gone.class, gone -> Optional::of)
          .complete();

  private Edits() {}

  /**
   * Throws the problem of an edit that changed nothing.
   *
   * @param whenGone the problem if the job or schedule is gone
   */
  public static void requireEdited(EditResult result, Problem whenGone) {
    Optional<Problem> refusal = REFUSALS.of(result).apply(whenGone);
    if (refusal.isPresent()) {
      throw refusal.get().asException();
    }
  }

  static Problem ofSchedule() {
    return notNow("job-of-schedule", "It belongs to a schedule; delete the schedule instead.");
  }

  static Problem notNow(String slug, String detail) {
    String title = slug.substring(0, 1).toUpperCase(Locale.ROOT) + slug.substring(1);
    return Problem.of(slug, 409, title.replace('-', ' '), detail);
  }

  /**
   * Records the action if the edit changed something. The caller commits.
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
   * The version that must still be current: the one the client saw, if the client named it. Without
   * one, any version will do.
   */
  public static OptionalInt namedVersion(Request request, int seen) {
    return request.header("If-Match").isPresent() ? OptionalInt.of(seen) : OptionalInt.empty();
  }
}
