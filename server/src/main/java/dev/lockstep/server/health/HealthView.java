package dev.lockstep.server.health;

import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.health.HealthReport.Replica;
import dev.lockstep.server.health.HealthReport.Session;
import dev.lockstep.server.health.HealthReport.Table;
import dev.lockstep.server.health.Measure.Level;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;

/** A report as JSON. */
final class HealthView {
  private static final int MAX_SHOWN = 1_000;
  private static final Shape COUNT = Shape.integer(0, Long.MAX_VALUE);

  static final ObjectShape SHAPE =
      Shape.object()
          .required("checkedAt", Shape.time())
          .required("level", Shape.choice("ok", "warning", "critical"))
          .required("findings", Shape.list(Shape.anything(), 0, Measure.values().length))
          .required("sessions", Shape.list(Shape.anything(), 0, MAX_SHOWN))
          .required("tables", Shape.list(Shape.anything(), 0, MAX_SHOWN))
          .required("replicas", Shape.list(Shape.anything(), 0, MAX_SHOWN))
          .required(
              "pool",
              Shape.object()
                  .required("active", COUNT)
                  .required("idle", COUNT)
                  .required("waiting", COUNT)
                  .required("max", COUNT))
          .required(
              "transactionIds",
              Shape.object()
                  .required("age", COUNT)
                  .required("untilWraparound", COUNT)
                  .required("freezeMaxAge", COUNT))
          .required(
              "sinceStart",
              Shape.object()
                  .required("deadlocks", COUNT)
                  .required("serializationFailures", COUNT)
                  .required("lockTimeouts", COUNT)
                  .required("transactions", COUNT)
                  .required("cacheHitShare", Shape.number()));

  private HealthView() {}

  static JsonObject json(HealthReport report) {
    JsonArray findings = new JsonArray();
    Level worst = Level.OK;
    for (Measure measure : Measure.values()) {
      Level level = measure.level(report);
      worst = level.compareTo(worst) > 0 ? level : worst;
      findings.add(
          new JsonObject()
              .put("name", measure.label())
              .put("level", level.label())
              .put("value", measure.of(report))
              .put("warningAt", measure.warningAt())
              .put("criticalAt", measure.criticalAt())
              .put("advice", measure.advice()));
    }
    return new JsonObject()
        .put("checkedAt", report.at().toString())
        .put("level", worst.label())
        .put("findings", findings)
        .put("sessions", array(report.sessions().stream().map(HealthView::session).toList()))
        .put("tables", array(report.tables().stream().map(HealthView::table).toList()))
        .put("replicas", array(report.replicas().stream().map(HealthView::replica).toList()))
        .put(
            "pool",
            new JsonObject()
                .put("active", report.pool().active())
                .put("idle", report.pool().idle())
                .put("waiting", report.pool().waiting())
                .put("max", report.pool().max()))
        .put(
            "transactionIds",
            new JsonObject()
                .put("age", report.ids().age())
                .put("untilWraparound", report.ids().left())
                .put("freezeMaxAge", report.ids().freezeMaxAge()))
        .put(
            "sinceStart",
            new JsonObject()
                .put("deadlocks", report.counts().deadlocks())
                .put("serializationFailures", report.counts().conflicts())
                .put("lockTimeouts", report.counts().lockTimeouts())
                .put("transactions", report.counts().attempts())
                .put("cacheHitShare", report.counts().hitShare()));
  }

  private static JsonObject session(Session session) {
    return new JsonObject()
        .put("pid", session.pid())
        .put("application", session.application())
        .put("state", session.state())
        .put("transactionSeconds", session.transactionSeconds().orElse(null))
        .put("stateSeconds", session.stateSeconds())
        .put("blockedBy", new JsonArray(session.blockedBy()))
        .put("query", session.query());
  }

  private static JsonObject table(Table table) {
    return new JsonObject()
        .put("name", table.name())
        .put("live", table.live())
        .put("dead", table.dead())
        .put("vacuumedAt", table.vacuumedAt().map(Instant::toString).orElse(null))
        .put("transactionIdAge", table.frozenAge());
  }

  private static JsonObject replica(Replica replica) {
    return new JsonObject()
        .put("name", replica.name())
        .put("state", replica.state())
        .put("lagSeconds", replica.lagSeconds().orElse(null))
        .put("lagBytes", replica.lagBytes().orElse(null));
  }

  private static JsonArray array(List<JsonObject> items) {
    return new JsonArray(items);
  }
}
