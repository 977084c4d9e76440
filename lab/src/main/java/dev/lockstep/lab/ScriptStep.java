package dev.lockstep.lab;

import dev.lockstep.tx.Isolation;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * A step of a script.
 *
 * @param number from 1
 * @param session that runs it
 * @param kind its effect on the session's transaction
 * @param text SQL, or what the code does, in words
 * @param name names its result for the judge and later steps; may be empty
 * @param note what the application thinks
 * @param parameters computed when it is sent
 * @param condition whether it is sent at all
 * @param otherwise what the application does instead
 * @param code runs instead of SQL
 */
record ScriptStep(
    int number,
    String session,
    Kind kind,
    String text,
    String name,
    String note,
    Function<Observations, List<Object>> parameters,
    Predicate<Observations> condition,
    String otherwise,
    Code code) {
  enum Kind {
    BEGIN,
    COMMIT,
    ROLLBACK,
    /** Rolls back to a savepoint, which works in a failed transaction. */
    RECOVER,
    SQL,
    CODE
  }

  /** Lockstep's own code, on the session's connection. */
  @FunctionalInterface
  interface Code {
    Outcome run(Connection connection, Isolation isolation) throws SQLException;
  }

  static ScriptStep of(int number, String session, Kind kind, String text) {
    return new ScriptStep(
        number,
        session,
        kind,
        text,
        "",
        "",
        seen -> List.of(),
        seen -> true,
        "",
        (connection, isolation) -> new Outcome.Done());
  }

  ScriptStep named(String newName) {
    return new ScriptStep(
        number, session, kind, text, newName, note, parameters, condition, otherwise, code);
  }

  ScriptStep noted(String newNote) {
    return new ScriptStep(
        number, session, kind, text, name, newNote, parameters, condition, otherwise, code);
  }

  ScriptStep with(Function<Observations, List<Object>> newParameters) {
    return new ScriptStep(
        number, session, kind, text, name, note, newParameters, condition, otherwise, code);
  }

  ScriptStep when(Predicate<Observations> newCondition, String instead) {
    return new ScriptStep(
        number, session, kind, text, name, note, parameters, newCondition, instead, code);
  }

  ScriptStep doing(Code newCode) {
    return new ScriptStep(
        number, session, kind, text, name, note, parameters, condition, otherwise, newCode);
  }
}
