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
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.job.BackgroundJobs;
import dev.lockstep.server.metric.Metrics;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares every record of the stock, and of the money, with every other: what changed, each
 * minute, on one node; everything, now and then and when asked. A pool where two records differ is
 * paused with what was found as the reason, and so are all pools of a campaign whose books differ.
 * The latest report is kept for all nodes to show.
 *
 * <p>Everything is gone through in short slices on a thread of its own, by one node at a time. Who
 * asks for it waits a few seconds and is told what it has come to by then; it goes on, and how far
 * it is can be read. Thread-safe.
 */
public final class Invariants implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Invariants.class);

  public static final Duration INTERVAL = Duration.ofMinutes(1);
  private static final int MAX_SHOWN = 1_000;
  private static final int MAX_DETAIL = 500;
  private static final String ACTOR = "lockstep: invariants";

  /** Who asks for everything is answered by then, whatever it has come to. */
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(5);

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
          .required("violations", Shape.list(VIOLATION, 0, MAX_SHOWN))
          .optional("complete", Shape.bool())
          .optional(
              "full",
              Shape.object()
                  .required("startedAt", Shape.time())
                  .required("finishedAt", Shape.nullable(Shape.time()))
                  .required("slices", Shape.integer(0, Long.MAX_VALUE))
                  .required("pools", Shape.integer(0, Long.MAX_VALUE))
                  .required("changes", Shape.integer(0, Long.MAX_VALUE))
                  .required("accounts", Shape.integer(0, Long.MAX_VALUE))
                  .required("entries", Shape.integer(0, Long.MAX_VALUE))
                  .required("violations", Shape.integer(0, Long.MAX_VALUE)));

  private final Audit audit;
  private final Campaigns campaigns;
  private final Holds holds;
  private final Ledger ledger;
  private final Vertx vertx;
  private final Workers workers;
  private final Transactor transactor;
  private final FullCheck full;
  private volatile @Nullable JsonObject latest;

  public Invariants(
      Transactor transactor,
      Campaigns campaigns,
      Holds holds,
      Ledger ledger,
      Vertx vertx,
      Workers workers,
      Metrics metrics) {
    this.campaigns = campaigns;
    this.holds = holds;
    this.ledger = ledger;
    this.vertx = vertx;
    Oversold oversold = new Oversold(metrics);
    this.audit =
        new Audit(
            transactor,
            violation -> {
              alone(() -> pause(violation));
              oversold.look(violation);
            });
    this.workers = workers;
    this.transactor = transactor;
    this.full = new FullCheck(transactor, audit, ledger, this::keep);
    metrics.gauge(
        "lockstep.invariant.violations", "What the latest check found broken.", this::violations);
    metrics.gauge(
        "lockstep.invariant.check.timestamp.seconds",
        "When invariants were last checked, in seconds since 1970; not a number before.",
        this::checkedAt);
  }

  /** What is to be done by jobs. */
  public BackgroundJobs backgroundJobs() {
    return BackgroundJobs.none().every(INTERVAL, "invariants", job -> checkChanged());
  }

  private void checkChanged() {
    AuditReport stock = audit.checkChanged();
    keep(stock, ledger.checkChanged());
    full.beginIfDue(stock.checkedAt());
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
                        .read(request, this::shown)
                        .compose(
                            known ->
                                known.isPresent()
                                    ? Future.succeededFuture(Answer.ok(known.get()))
                                    : check(request))),
        Endpoint.of(
                POST,
                "/v1/invariants/check",
                "Checks everything from the beginning; answers within seconds, and goes on.")
            .by(Role.OPERATOR)
            .asReport()
            .perhapsTaking(Shape.object())
            .answering(200, REPORT)
            .handledBy(this::check));
  }

  private Optional<JsonObject> shown() {
    JsonObject progress = full.read();
    return transactor
        .call(ReportTable::latest)
        .map(report -> progress.isEmpty() ? report : report.put("full", progress));
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

  /** Nobody's thread waits for it. */
  private Future<Answer> check(Request request) {
    return Future.fromCompletionStage(full.ask(), vertx.getOrCreateContext())
        .timeout(ANSWER_WITHIN.toMillis(), TimeUnit.MILLISECONDS)
        .recover(
            thrown ->
                thrown instanceof TimeoutException
                    ? workers.read(request, this::unfinished)
                    : Future.failedFuture(thrown))
        .map(Answer::ok);
  }

  /** What this node has come to so far; or what is known, while another node is at it. */
  private JsonObject unfinished() {
    JsonObject known =
        full.soFar()
            .or(() -> transactor.call(ReportTable::latest))
            .orElseThrow(() -> Problem.overloaded(ANSWER_WITHIN).asException())
            .copy()
            .put("complete", false);
    JsonObject progress = full.read();
    return progress.isEmpty() ? known : known.put("full", progress);
  }

  private JsonObject keep(AuditReport stock, LedgerReport money) {
    money.violations().forEach(violation -> alone(() -> pause(violation)));
    JsonObject json = json(stock, money).put("complete", true);
    transactor.run(connection -> ReportTable.keep(connection, stock.checkedAt(), json));
    latest = json;
    return json;
  }

  /**
   * A campaign that cannot be paused now, because somebody has locked it perhaps, keeps no other
   * from it, nor the report. What is broken is looked at again by the next check.
   */
  private static void alone(Runnable pause) {
    try {
      pause.run();
    } catch (RuntimeException e) {
      log.error("What is broken could not be paused, and is tried again: {}", e.toString());
    }
  }

  private void pause(Violation violation) {
    ScopeId scope = new ScopeId(violation.scope());
    PoolId pool = new PoolId(violation.pool());
    String reason = reason(violation.detail());
    campaigns.stop(violation.scope(), pool, reason, ACTOR);
    pauseIfSelling(scope, reason, pool::equals);
  }

  /** A campaign whose books are wrong stops selling, as one whose stock is. */
  private void pause(LedgerViolation violation) {
    String reason = reason(violation.detail());
    campaigns.stop(violation.book().value(), reason, ACTOR);
    pauseIfSelling(new ScopeId(violation.book().value()), reason, pool -> true);
  }

  /** Of a scope that is no campaign. */
  private void pauseIfSelling(ScopeId scope, String reason, Predicate<PoolId> which) {
    holds.pools(scope).stream()
        .filter(pool -> pool.pauseReason().isEmpty() && which.test(pool.id()))
        .forEach(pool -> holds.pause(scope, pool.id(), reason));
  }

  @Override
  public void close() {
    full.close();
  }

  private static String reason(String detail) {
    String reason = "An invariant is broken: " + detail;
    return reason.substring(0, Math.min(MAX_DETAIL, reason.length()));
  }

  static JsonObject json(AuditReport stock, LedgerReport money) {
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
