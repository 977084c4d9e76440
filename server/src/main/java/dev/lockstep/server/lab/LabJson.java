package dev.lockstep.server.lab;

import dev.lockstep.lab.Lab;
import dev.lockstep.lab.Level;
import dev.lockstep.lab.Matrix;
import dev.lockstep.lab.Outcome;
import dev.lockstep.lab.PlayedStep;
import dev.lockstep.lab.Scenario;
import dev.lockstep.lab.Timeline;
import dev.lockstep.lab.Verdict;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.tx.Isolation;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** The lab's records as JSON, and their shapes. */
public final class LabJson {
  private static final Shape WORDS = Shape.text(0, 4_096);
  private static final Shape NAMES = Shape.list(WORDS, 0, 100);
  private static final Shape MICROSECONDS = Shape.integer(0, 3_600_000_000L);
  private static final Shape ROWS = Shape.list(NAMES, 0, 1_000);

  /** How a step ended: its name and specific fields. */
  private static final Cases<Outcome, JsonObject> OUTCOMES =
      Cases.<Outcome, JsonObject>over(Outcome.class)
          .when(
              Outcome.Rows.class,
              found ->
                  named("rows")
                      .put("columns", new JsonArray(found.columns()))
                      .put("rows", rows(found.rows())))
          .when(Outcome.Changed.class, changed -> named("changed").put("changed", changed.count()))
          .when(Outcome.Done.class, done -> named("done"))
          .when(
              Outcome.Failed.class,
              failed ->
                  named("failed")
                      .put("sqlState", failed.sqlState())
                      .put("message", failed.message()))
          .when(Outcome.Skipped.class, skipped -> named("skipped").put("message", skipped.why()))
          .complete();

  private static final Shape SCENARIO =
      Shape.object()
          .required("id", WORDS)
          .required("group", WORDS)
          .required("groupTitle", WORDS)
          .required("title", WORDS)
          .required("question", WORDS)
          .required("why", WORDS)
          .required("cure", WORDS);

  static final Shape CATALOGUE =
      Shape.object()
          .required("enabled", Shape.bool())
          .required("items", Shape.list(SCENARIO, 0, 1_000))
          .required("next", Shape.nullable(WORDS));

  private static final Shape STEP =
      Shape.object()
          .required("step", Shape.integer(1, 1_000))
          .required("session", WORDS)
          .required("sql", WORDS)
          .required("parameters", NAMES)
          .required("note", WORDS)
          .required("startedUs", MICROSECONDS)
          .required("blockedUs", Shape.nullable(MICROSECONDS))
          .required("finishedUs", MICROSECONDS)
          .required("blockedBy", NAMES)
          .required("awaitedLock", Shape.nullable(WORDS))
          .required("outcome", Shape.choice("rows", "changed", "done", "failed", "skipped"))
          .required("columns", NAMES)
          .required("rows", ROWS)
          .required("changed", Shape.nullable(Shape.integer(0, Integer.MAX_VALUE)))
          .required("sqlState", Shape.nullable(WORDS))
          .required("message", Shape.nullable(WORDS));

  private static final Shape VERDICT =
      Shape.object()
          .required("anomaly", Shape.bool())
          .required("outcome", Shape.choice("happened", "prevented"))
          .required("brief", WORDS)
          .required("sentence", WORDS)
          .required("refusals", NAMES)
          .required("waited", Shape.bool());

  static final Shape TIMELINE =
      Shape.object()
          .required("scenario", WORDS)
          .required("title", WORDS)
          .required("question", WORDS)
          .required("isolation", WORDS)
          .required("variant", WORDS)
          .required("postgres", WORDS)
          .required("startedAt", Shape.time())
          .required("tookUs", MICROSECONDS)
          .required("setup", NAMES)
          .required("sessions", NAMES)
          .required("steps", Shape.list(STEP, 0, 1_000))
          .required("finalState", Shape.object().required("columns", NAMES).required("rows", ROWS))
          .required("verdict", VERDICT)
          .required("why", WORDS)
          .required("cure", WORDS);

  private LabJson() {}

  /** All scenarios. */
  public static JsonObject catalogue(boolean enabled) {
    JsonArray items = new JsonArray();
    Lab.scenarios().forEach(scenario -> items.add(scenario(scenario)));
    return new JsonObject().put("enabled", enabled).put("items", items).put("next", null);
  }

  /** A run. */
  public static JsonObject timeline(Timeline timeline) {
    Scenario scenario = timeline.scenario();
    JsonArray steps = new JsonArray();
    timeline.steps().forEach(step -> steps.add(step(step)));
    return new JsonObject()
        .put("scenario", scenario.id())
        .put("title", scenario.title())
        .put("question", scenario.question())
        .put("isolation", Level.label(timeline.isolation()))
        .put("variant", timeline.variant().label())
        .put("postgres", timeline.serverVersion())
        .put("startedAt", timeline.startedAt().truncatedTo(ChronoUnit.MICROS).toString())
        .put("tookUs", timeline.tookUs())
        .put("setup", new JsonArray(timeline.setup()))
        .put("sessions", new JsonArray(timeline.sessions()))
        .put("steps", steps)
        .put(
            "finalState",
            new JsonObject()
                .put("columns", new JsonArray(timeline.finalState().columns()))
                .put("rows", rows(timeline.finalState().rows())))
        .put("verdict", verdict(timeline.verdict()))
        .put("why", scenario.why())
        .put("cure", scenario.cure());
  }

  /** Every scenario at every level. */
  public static JsonObject matrix(Matrix matrix) {
    JsonArray rows = new JsonArray();
    for (Matrix.Row row : matrix.rows()) {
      JsonObject levels = new JsonObject();
      for (Isolation isolation : Isolation.values()) {
        levels.put(Level.label(isolation), verdict(row.at(isolation)));
      }
      rows.add(
          new JsonObject()
              .put("scenario", row.scenario().id())
              .put("variant", row.variant().label())
              .put("verdicts", levels));
    }
    return new JsonObject().put("postgres", matrix.serverVersion()).put("rows", rows);
  }

  private static JsonObject scenario(Scenario scenario) {
    return new JsonObject()
        .put("id", scenario.id())
        .put("group", scenario.group().label())
        .put("groupTitle", scenario.group().title())
        .put("title", scenario.title())
        .put("question", scenario.question())
        .put("why", scenario.why())
        .put("cure", scenario.cure());
  }

  private static JsonObject step(PlayedStep step) {
    JsonObject json =
        new JsonObject()
            .put("step", step.number())
            .put("session", step.session())
            .put("sql", step.sql())
            .put("parameters", new JsonArray(step.parameters()))
            .put("note", step.note())
            .put("startedUs", step.startedUs())
            .put(
                "blockedUs",
                step.blockedUs().isPresent() ? (Long) step.blockedUs().getAsLong() : null)
            .put("finishedUs", step.finishedUs())
            .put("blockedBy", new JsonArray(step.blockedBy()))
            .put("awaitedLock", step.awaitedLock().orElse(null))
            .put("columns", new JsonArray())
            .put("rows", new JsonArray())
            .put("changed", null)
            .put("sqlState", null)
            .put("message", null);
    return json.mergeIn(OUTCOMES.of(step.outcome()));
  }

  private static JsonObject verdict(Verdict verdict) {
    return new JsonObject()
        .put("anomaly", verdict.anomaly())
        .put("outcome", verdict.anomaly() ? "happened" : "prevented")
        .put("brief", verdict.brief())
        .put("sentence", verdict.sentence())
        .put("refusals", new JsonArray(verdict.refusals()))
        .put("waited", verdict.waited());
  }

  private static JsonObject named(String outcome) {
    return new JsonObject().put("outcome", outcome);
  }

  private static JsonArray rows(List<List<String>> rows) {
    JsonArray array = new JsonArray();
    rows.forEach(row -> array.add(new JsonArray(row)));
    return array;
  }
}
