package dev.lockstep.server.invariant;

import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.hold.Holds;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.hold.StockCheck;
import dev.lockstep.hold.StockReport;
import dev.lockstep.hold.StockViolation;
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
 * Compares all records of stock and money with each other: recent changes every minute, on one
 * node; everything regularly and on request. It pauses a pool whose records differ, and all pools
 * of a campaign whose books differ, with the finding as the reason. The latest report is stored for
 * all nodes to show.
 *
 * <p>A full check runs in short slices on a dedicated thread, on one node at a time. A request for
 * one waits a few seconds and returns the progress so far; the check continues, and its progress
 * can be read. Thread-safe.
 */
public final class Invariants implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Invariants.class);

  public static final Duration INTERVAL = Duration.ofMinutes(1);
  private static final int MAX_SHOWN = 1_000;
  private static final int MAX_DETAIL = 500;
  private static final String ACTOR = "lockstep: invariants";

  /** A request for a full check is answered by then, with the progress so far. */
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

  private final StockCheck stockCheck;
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
    this.stockCheck =
        new StockCheck(
            transactor,
            violation -> {
              alone(() -> pause(violation));
              oversold.look(violation);
            });
    this.workers = workers;
    this.transactor = transactor;
    this.full = new FullCheck(transactor, stockCheck, ledger, this::keep);
    metrics.gauge(
        "lockstep.invariant.violations", "Violations found by the latest check.", this::violations);
    metrics.gauge(
        "lockstep.invariant.check.timestamp.seconds",
        "When invariants were last checked, in seconds since 1970; NaN before.",
        this::checkedAt);
  }

  public BackgroundJobs backgroundJobs() {
    return BackgroundJobs.none().every(INTERVAL, "invariants", job -> checkChanged());
  }

  private void checkChanged() {
    StockReport stock = stockCheck.checkChanged();
    keep(stock, ledger.checkChanged());
    full.beginIfDue(stock.checkedAt());
  }

  /** Reads what other nodes have found, for this node's metrics. Blocks. */
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
                "Starts a full check; answers within seconds while it continues.")
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

  /** No thread waits for it. */
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

  /** This node's progress so far, or the latest report if another node is checking. */
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

  private JsonObject keep(StockReport stock, LedgerReport money) {
    money.violations().forEach(violation -> alone(() -> pause(violation)));
    JsonObject json = json(stock, money).put("complete", true);
    transactor.run(connection -> ReportTable.keep(connection, stock.checkedAt(), json));
    latest = json;
    return json;
  }

  /**
   * A campaign that cannot be paused now, perhaps because it is locked, must not prevent other
   * pauses or the report. The next check finds the violation again.
   */
  private static void alone(Runnable pause) {
    try {
      pause.run();
    } catch (RuntimeException e) {
      log.error("Pausing after a violation failed; the next check retries: {}", e.toString());
    }
  }

  private void pause(StockViolation violation) {
    ScopeId scope = new ScopeId(violation.scope());
    PoolId pool = new PoolId(violation.pool());
    String reason = reason(violation.detail());
    campaigns.stop(violation.scope(), pool, reason, ACTOR);
    pauseIfSelling(scope, reason, pool::equals);
  }

  /** A campaign whose books are wrong stops selling, like one whose stock is. */
  private void pause(LedgerViolation violation) {
    String reason = reason(violation.detail());
    campaigns.stop(violation.book().value(), reason, ACTOR);
    pauseIfSelling(new ScopeId(violation.book().value()), reason, pool -> true);
  }

  /** For a scope that is not a campaign. */
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
    String reason = "An invariant is violated: " + detail;
    return reason.substring(0, Math.min(MAX_DETAIL, reason.length()));
  }

  static JsonObject json(StockReport stock, LedgerReport money) {
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

  /** Accounts without a campaign show campaign 0. */
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

  private static JsonObject json(StockViolation violation) {
    return new JsonObject()
        .put("check", violation.check().name().toLowerCase(Locale.ROOT))
        .put("campaign", String.valueOf(violation.scope()))
        .put("pool", String.valueOf(violation.pool()))
        .put("detail", violation.detail());
  }
}
