package dev.lockstep.server.database;

import dev.lockstep.server.lifecycle.CannotStart;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Says in one line why a database refuses us and what to do about it. Decides by SQLSTATE; it only
 * repeats the database's own text, and names neither URL nor password.
 */
final class DatabaseRefusal {
  private DatabaseRefusal() {}

  static CannotStart ofConnecting(SQLException e, DatabaseAddress address) {
    String place = address.place();
    String state = stateOf(e);
    if (state.equals("28P01") || state.equals("28000")) {
      return new CannotStart(
          "the database at "
              + place
              + " refused the user or the password; check both in --database-url",
          e);
    }
    if (state.equals("3D000")) {
      return new CannotStart("there is no database " + place + "; create it, then start again", e);
    }
    // 08004 is an answer, for example to a missing password; the other 08 states mean silence.
    if (state.startsWith("08") && !state.equals("08004")) {
      return new CannotStart(
          "no database answers at "
              + place
              + "; start it, or correct host and port in --database-url",
          e);
    }
    return new CannotStart(
        "the database at " + place + " refused the connection: " + firstLine(e), e);
  }

  static CannotStart ofMigrating(Exception e, DatabaseAddress address) {
    String place = address.place();
    SQLException cause = sqlCause(e);
    String state = cause == null ? "" : stateOf(cause);
    return switch (state) {
      case "42501" ->
          new CannotStart(
              "this user may not create or change schema lockstep in "
                  + place
                  + "; as its owner run: GRANT CREATE ON DATABASE … TO …",
              e);
      case "25006" ->
          new CannotStart(
              "the database at "
                  + place
                  + " is read-only, perhaps a standby; give --database-url the primary",
              e);
      default ->
          new CannotStart(
              "could not migrate schema lockstep in "
                  + place
                  + ": "
                  + firstLine(cause == null ? e : cause),
              e);
    };
  }

  private static String stateOf(SQLException e) {
    String state = e.getSQLState();
    return state == null ? "" : state;
  }

  static @Nullable SQLException sqlCause(Throwable e) {
    for (Throwable t = e; t != null; t = t.getCause()) {
      if (t instanceof SQLException sql) {
        return sql;
      }
    }
    return null;
  }

  private static String firstLine(Throwable e) {
    String message = e.getMessage();
    return message == null
        ? e.getClass().getSimpleName()
        : message.lines().findFirst().orElse("no reason given");
  }
}
