package dev.lockstep.lab;

import dev.lockstep.lab.ScriptStep.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * The steps of sessions, the tables they run on, and how to judge the result. Immutable. Steps keep
 * their order, except that a waiting session's next step is played as soon as the session
 * continues.
 */
final class Script {
  private final List<String> sessions;
  private final List<String> setup;
  private final List<ScriptStep> steps;
  private final String finalQuery;
  private final Function<Observations, Finding> judge;

  private Script(Writer writer, String finalQuery, Function<Observations, Finding> judge) {
    this.sessions = List.copyOf(writer.sessions);
    this.setup = List.copyOf(writer.setup);
    this.steps = List.copyOf(writer.steps);
    this.finalQuery = finalQuery;
    this.judge = judge;
  }

  static Writer between(String... sessions) {
    return new Writer(List.of(sessions));
  }

  List<String> sessions() {
    return sessions;
  }

  List<String> setup() {
    return setup;
  }

  List<ScriptStep> steps() {
    return steps;
  }

  /** Run after all sessions have ended. */
  String finalQuery() {
    return finalQuery;
  }

  Finding judge(Observations seen) {
    return judge.apply(seen);
  }

  /** Builds a script; modifiers change the step before them. */
  static final class Writer {
    private final List<String> sessions;
    private final List<String> setup = new ArrayList<>();
    private final List<ScriptStep> steps = new ArrayList<>();

    private Writer(List<String> sessions) {
      this.sessions = sessions;
    }

    Writer on(String... statements) {
      setup.addAll(List.of(statements));
      return this;
    }

    /** At the run's isolation level. */
    Writer begin(String... some) {
      for (String session : some) {
        add(session, Kind.BEGIN, "BEGIN ISOLATION LEVEL ");
      }
      return this;
    }

    /** At a fixed level. */
    Writer beginAs(String session, String statement) {
      return add(session, Kind.BEGIN, statement);
    }

    Writer run(String session, String sql) {
      return add(session, Kind.SQL, sql.strip());
    }

    Writer commit(String session) {
      return add(session, Kind.COMMIT, "COMMIT");
    }

    Writer rollback(String session) {
      return add(session, Kind.ROLLBACK, "ROLLBACK");
    }

    Writer rollbackTo(String session, String savepoint) {
      return add(session, Kind.RECOVER, "ROLLBACK TO SAVEPOINT " + savepoint);
    }

    /** Runs Lockstep's own code; {@code words} say what it does. */
    Writer code(String session, String words, ScriptStep.Code code) {
      return add(session, Kind.CODE, words).change(step -> step.doing(code));
    }

    Writer as(String name) {
      return change(step -> step.named(name));
    }

    Writer note(String note) {
      return change(step -> step.noted(note));
    }

    Writer with(Function<Observations, List<Object>> parameters) {
      return change(step -> step.with(parameters));
    }

    Writer when(Predicate<Observations> condition, String otherwise) {
      return change(step -> step.when(condition, otherwise));
    }

    /** Ends the script with a query for the final state, and the judge. */
    Script judged(String finalQuery, Function<Observations, Finding> judge) {
      return new Script(this, finalQuery.strip(), judge);
    }

    private Writer add(String session, Kind kind, String text) {
      if (!sessions.contains(session)) {
        throw new IllegalArgumentException("no session " + session);
      }
      steps.add(ScriptStep.of(steps.size() + 1, session, kind, text));
      return this;
    }

    private Writer change(UnaryOperator<ScriptStep> change) {
      int last = steps.size() - 1;
      steps.set(last, change.apply(steps.get(last)));
      return this;
    }
  }
}
