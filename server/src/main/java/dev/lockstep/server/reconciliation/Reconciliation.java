package dev.lockstep.server.reconciliation;

import static io.vertx.core.http.HttpMethod.GET;

import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.duty.DutyState;
import dev.lockstep.server.duty.DutyThread;
import dev.lockstep.server.job.BackgroundJobs;
import dev.lockstep.server.metric.Metrics;
import dev.lockstep.server.payment.PaymentHistory;
import dev.lockstep.server.purchase.Timings;
import dev.lockstep.tx.Transactor;
import io.micrometer.core.instrument.Counter;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares money with goods, and both with the provider's lists: every minute, on one node at a
 * time. Reports disagreements over HTTP and as metrics. See {@link Look} and {@link ProviderLook}
 * for how, {@link FindingKind} for what.
 *
 * <p>Thread-safe. It looks on threads of its own; requests wait for a bounded time.
 */
public final class Reconciliation implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Reconciliation.class);

  private static final Duration LONGEST_INTERVAL = Duration.ofMinutes(1);
  private static final Duration UNFINISHED = Duration.ofSeconds(1);
  private static final Duration SWEEP_BUDGET = Duration.ofSeconds(10);
  private static final Duration PROVIDER_BUDGET = Duration.ofSeconds(10);
  private static final Duration LONGEST_LOOK = Duration.ofMinutes(5);
  private static final Duration LEASE = Duration.ofSeconds(10);

  /** The longest that a request waits, and how much of that goes to slices. */
  private static final Duration REQUEST_WAIT = Duration.ofSeconds(3);

  private static final Duration REQUEST_BUDGET = Duration.ofSeconds(1);
  private static final Duration RETRY = Duration.ofMillis(50);

  /** In multiples of the timer's interval for unfinished purchases. */
  private static final int PATIENCE_TIMES = 6;

  private final Transactor transactor;
  private final Vertx vertx;
  private final Workers workers;
  private final Duration interval;
  private final DutyState duty;
  private final Look look;
  private final DutyThread<Optional<Boolean>> whole;
  private final DutyThread<Optional<Boolean>> brief;
  private final DutyState providerDuty;
  private final DutyThread<Optional<Boolean>> providers;
  private final Map<FindingKind, Counter> found = new EnumMap<>(FindingKind.class);
  private volatile Map<FindingKind, Long> counts = Map.of();
  private volatile @Nullable Instant checkedAt;

  public Reconciliation(
      Transactor transactor,
      Vertx vertx,
      Workers workers,
      Campaigns campaigns,
      PaymentHistory provider,
      Timings timings,
      Metrics metrics) {
    this.transactor = transactor;
    this.vertx = vertx;
    this.workers = workers;
    Duration patience = timings.lookAfter().multipliedBy(PATIENCE_TIMES);
    this.interval = patience.compareTo(LONGEST_INTERVAL) < 0 ? patience : LONGEST_INTERVAL;
    this.duty = new DutyState(transactor, "reconciliation", LEASE);
    Comparison comparison = new Comparison(campaigns, new Judgement(patience), patience.toMillis());
    this.look =
        new Look(
            transactor,
            campaigns,
            comparison,
            duty,
            (kind, count) -> Objects.requireNonNull(found.get(kind)).increment(count));
    this.whole = new DutyThread<>("reconciliation", () -> look(SWEEP_BUDGET));
    this.providerDuty = new DutyState(transactor, "provider", LEASE);
    ProviderLook providerLook =
        new ProviderLook(transactor, provider, look, providerDuty, patience);
    this.providers = new DutyThread<>("provider", () -> providerLook.run(PROVIDER_BUDGET));
    this.brief = new DutyThread<>("reconciliation-now", this::lookNow);
    for (FindingKind kind : FindingKind.values()) {
      found.put(
          kind,
          metrics.counter(
              "lockstep.reconciliation.found",
              "Disagreements found between money, goods, books and the provider.",
              "kind",
              kind.label()));
      metrics.gauge(
          "lockstep.reconciliation.findings",
          "Current disagreements between money, goods, books and the provider.",
          () -> counts.getOrDefault(kind, 0L),
          "kind",
          kind.label());
    }
    metrics.gauge(
        "lockstep.reconciliation.check.timestamp.seconds",
        "When money and goods were last compared, in seconds since 1970; NaN before.",
        () -> {
          Instant at = checkedAt;
          return at == null ? Double.NaN : at.toEpochMilli() / 1_000.0;
        });
  }

  public BackgroundJobs backgroundJobs() {
    return BackgroundJobs.none()
        .paced(interval, "reconciliation", job -> lookOnce(whole))
        .paced(interval, "provider-payments", job -> lookOnce(providers));
  }

  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(GET, "/v1/reconciliation", "Lists money without goods and goods without money.")
            .by(Role.OPERATOR)
            .withQuery("latest", "true: what the last look found, without a new look.")
            .answering(200, ReportView.SHAPE)
            .handledBy(this::report));
  }

  /** Reads what other nodes have found, for this node's metrics. Blocks. */
  public void refresh() {
    counts = transactor.call(FindingTable::counts);
    String at = duty.read().getString("checkedAt");
    checkedAt = at == null ? null : Instant.parse(at);
  }

  private Duration lookOnce(DutyThread<Optional<Boolean>> thread) throws InterruptedException {
    boolean more = thread.ask(LONGEST_LOOK).flatMap(unfinished -> unfinished).orElse(false);
    refresh();
    return more && UNFINISHED.compareTo(interval) < 0 ? UNFINISHED : interval;
  }

  /** Another node may be looking; unless it sweeps, it is soon done. */
  private Optional<Boolean> lookNow() {
    long end = System.nanoTime() + REQUEST_WAIT.toNanos();
    Optional<Boolean> looked = look(REQUEST_BUDGET);
    while (looked.isEmpty() && System.nanoTime() < end && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(RETRY.toNanos());
      looked = look(REQUEST_BUDGET);
    }
    return looked;
  }

  private synchronized Optional<Boolean> look(Duration budget) {
    Optional<Boolean> more = look.run(budget);
    refresh();
    return more;
  }

  /** Looks first, as far as a moment allows; if another node looks, shows its findings. */
  private Future<Answer> report(Request request) {
    if (request.query("latest").filter("true"::equals).isPresent()) {
      return workers.read(request, this::shown).map(Answer::ok);
    }
    return Future.fromCompletionStage(brief.ask(), vertx.getOrCreateContext())
        .timeout(REQUEST_WAIT.toMillis(), TimeUnit.MILLISECONDS)
        .otherwise(
            thrown -> {
              if (!(thrown instanceof TimeoutException)) {
                log.warn("Money and goods were not compared for a request: {}", thrown.toString());
              }
              return Optional.empty();
            })
        .compose(looked -> workers.read(request, this::shown))
        .map(Answer::ok);
  }

  private JsonObject shown() {
    JsonObject state = duty.read();
    JsonObject providerState = providerDuty.read();
    return transactor.call(
        connection ->
            ReportView.read(connection, FindingTable.counts(connection), state, providerState));
  }

  @Override
  public void close() {
    brief.close();
    providers.close();
    whole.close();
  }
}
