package dev.lockstep.server.invariant;

import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.audit.Audit;
import dev.lockstep.audit.AuditReport;
import dev.lockstep.audit.Violation;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.job.Duties;
import dev.lockstep.server.metric.Metrics;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Compares every record of the stock with every other: what changed, each minute, on one node;
 * everything, when asked. A pool where two records differ is paused with what was found as the
 * reason. The latest report is kept for all nodes to show. Thread-safe.
 */
public final class Invariants {
  public static final Duration INTERVAL = Duration.ofMinutes(1);
  private static final int MAX_SHOWN = 1_000;
  private static final int MAX_DETAIL = 500;

  private static final ObjectShape VIOLATION =
      Shape.object()
          .required("check", Shape.text(1, 64))
          .required("campaign", Shape.text(1, 32))
          .required("pool", Shape.text(1, 32))
          .required("detail", Shape.text(1, 10_000));

  private static final Shape REPORT =
      Shape.object()
          .required("ok", Shape.bool())
          .required("checkedAt", Shape.time())
          .required(
              "checked",
              Shape.object()
                  .required("pools", Shape.integer(0, Long.MAX_VALUE))
                  .required("changes", Shape.integer(0, Long.MAX_VALUE)))
          .required("violations", Shape.list(VIOLATION, 0, MAX_SHOWN));

  private final Audit audit;
  private final Workers workers;
  private final Transactor transactor;
  private volatile @Nullable JsonObject latest;

  public Invariants(Transactor transactor, Holds holds, Workers workers, Metrics metrics) {
    Oversold oversold = new Oversold(metrics);
    this.audit =
        new Audit(
            transactor,
            violation -> {
              pause(holds, violation);
              oversold.look(violation);
            });
    this.workers = workers;
    this.transactor = transactor;
    metrics.gauge(
        "lockstep.invariant.violations", "What the latest check found broken.", this::violations);
    metrics.gauge(
        "lockstep.invariant.check.timestamp.seconds",
        "When invariants were last checked, in seconds since 1970; not a number before.",
        this::checkedAt);
  }

  /** What is to be done by jobs. */
  public Duties duties() {
    return Duties.none().every(INTERVAL, "invariants", job -> keep(audit.checkChanged()));
  }

  /** Learns what another node has found, for this node's figures. Blocks. */
  public void refresh() {
    transactor.call(ReportTable::latest).ifPresent(report -> latest = report);
  }

  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(GET, "/v1/invariants", "Shows what the latest check found.")
            .by(Role.OPERATOR)
            .answering(200, REPORT)
            .handledBy(
                request ->
                    workers
                        .run(() -> transactor.call(ReportTable::latest))
                        .compose(
                            known ->
                                known.isPresent()
                                    ? Future.succeededFuture(Answer.ok(known.get()))
                                    : check())),
        Endpoint.of(POST, "/v1/invariants/check", "Checks everything now, from the beginning.")
            .by(Role.OPERATOR)
            .perhapsTaking(Shape.object())
            .answering(200, REPORT)
            .handledBy(request -> check()));
  }

  private int violations() {
    JsonObject known = latest;
    return known == null ? 0 : known.getJsonArray("violations").size();
  }

  private double checkedAt() {
    JsonObject known = latest;
    return known == null
        ? Double.NaN
        : Instant.parse(known.getString("checkedAt")).toEpochMilli() / 1_000.0;
  }

  private Future<Answer> check() {
    return workers.run(() -> Answer.ok(keep(audit.checkAll())));
  }

  private JsonObject keep(AuditReport report) {
    JsonObject json = json(report);
    transactor.run(connection -> ReportTable.keep(connection, report.checkedAt(), json));
    latest = json;
    return json;
  }

  private static void pause(Holds holds, Violation violation) {
    String detail = violation.detail();
    String reason = "An invariant is broken: " + detail;
    holds.pause(
        new ScopeId(violation.scope()),
        new PoolId(violation.pool()),
        reason.substring(0, Math.min(MAX_DETAIL, reason.length())));
  }

  private static JsonObject json(AuditReport report) {
    JsonArray violations = new JsonArray();
    report.violations().stream()
        .limit(MAX_SHOWN)
        .forEach(violation -> violations.add(json(violation)));
    return new JsonObject()
        .put("ok", report.ok())
        .put("checkedAt", report.checkedAt().toString())
        .put(
            "checked",
            new JsonObject().put("pools", report.pools()).put("changes", report.changes()))
        .put("violations", violations);
  }

  private static JsonObject json(Violation violation) {
    return new JsonObject()
        .put("check", violation.check().name().toLowerCase(Locale.ROOT))
        .put("campaign", String.valueOf(violation.scope()))
        .put("pool", String.valueOf(violation.pool()))
        .put("detail", violation.detail());
  }
}
