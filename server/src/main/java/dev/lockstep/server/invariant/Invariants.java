package dev.lockstep.server.invariant;

import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.audit.Audit;
import dev.lockstep.audit.AuditReport;
import dev.lockstep.audit.Violation;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerReport;
import dev.lockstep.ledger.LedgerViolation;
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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Compares every record of the stock, and of the money, with every other: what changed, each
 * minute, on one node; everything, when asked. A pool where two records differ is paused with what
 * was found as the reason, and so are all pools of a campaign whose books differ. The latest report
 * is kept for all nodes to show. Thread-safe.
 */
public final class Invariants {
  public static final Duration INTERVAL = Duration.ofMinutes(1);
  private static final int MAX_SHOWN = 1_000;
  private static final int MAX_DETAIL = 500;

  private static final ObjectShape VIOLATION =
      Shape.object()
          .required("check", Shape.text(1, 64))
          .required("campaign", Shape.text(1, 32))
          .optional("pool", Shape.text(1, 32))
          .optional("account", Shape.text(1, 64))
          .required("detail", Shape.text(1, 10_000));

  private static final Shape REPORT =
      Shape.object()
          .required("ok", Shape.bool())
          .required("checkedAt", Shape.time())
          .required(
              "checked",
              Shape.object()
                  .required("pools", Shape.integer(0, Long.MAX_VALUE))
                  .required("changes", Shape.integer(0, Long.MAX_VALUE))
                  .required("accounts", Shape.integer(0, Long.MAX_VALUE))
                  .required("entries", Shape.integer(0, Long.MAX_VALUE)))
          .required("violations", Shape.list(VIOLATION, 0, MAX_SHOWN));

  private final Audit audit;
  private final Holds holds;
  private final Ledger ledger;
  private final Workers workers;
  private final Transactor transactor;
  private volatile @Nullable JsonObject latest;

  public Invariants(
      Transactor transactor, Holds holds, Ledger ledger, Workers workers, Metrics metrics) {
    this.holds = holds;
    this.ledger = ledger;
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
    return Duties.none()
        .every(INTERVAL, "invariants", job -> keep(audit.checkChanged(), ledger.checkChanged()));
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
    return workers.run(() -> Answer.ok(keep(audit.checkAll(), ledger.checkAll())));
  }

  private JsonObject keep(AuditReport stock, LedgerReport money) {
    money.violations().forEach(this::pause);
    JsonObject json = json(stock, money);
    transactor.run(connection -> ReportTable.keep(connection, stock.checkedAt(), json));
    latest = json;
    return json;
  }

  private static void pause(Holds holds, Violation violation) {
    holds.pause(
        new ScopeId(violation.scope()), new PoolId(violation.pool()), reason(violation.detail()));
  }

  /** A campaign whose books are wrong stops selling, as one whose stock is. */
  private void pause(LedgerViolation violation) {
    ScopeId scope = new ScopeId(violation.book().value());
    String reason = reason(violation.detail());
    holds.pools(scope).forEach(pool -> holds.pause(scope, pool.id(), reason));
  }

  private static String reason(String detail) {
    String reason = "An invariant is broken: " + detail;
    return reason.substring(0, Math.min(MAX_DETAIL, reason.length()));
  }

  private static JsonObject json(AuditReport stock, LedgerReport money) {
    JsonArray violations = new JsonArray();
    Stream.concat(
            stock.violations().stream().map(Invariants::json),
            money.violations().stream().map(Invariants::json))
        .limit(MAX_SHOWN)
        .forEach(violations::add);
    return new JsonObject()
        .put("ok", stock.ok() && money.ok())
        .put("checkedAt", stock.checkedAt().toString())
        .put(
            "checked",
            new JsonObject()
                .put("pools", stock.pools())
                .put("changes", stock.changes())
                .put("accounts", money.accounts())
                .put("entries", money.entries()))
        .put("violations", violations);
  }

  /** The campaign of accounts that belong to none is 0. */
  private static JsonObject json(LedgerViolation violation) {
    JsonObject json =
        new JsonObject()
            .put("check", violation.check().name().toLowerCase(Locale.ROOT))
            .put("campaign", String.valueOf(violation.book().value()))
            .put("detail", violation.detail());
    violation
        .account()
        .ifPresent(
            account -> json.put("account", violation.book().value() + "." + account.value()));
    return json;
  }

  private static JsonObject json(Violation violation) {
    return new JsonObject()
        .put("check", violation.check().name().toLowerCase(Locale.ROOT))
        .put("campaign", String.valueOf(violation.scope()))
        .put("pool", String.valueOf(violation.pool()))
        .put("detail", violation.detail());
  }
}
