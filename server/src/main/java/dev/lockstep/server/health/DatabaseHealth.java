package dev.lockstep.server.health;

import static io.vertx.core.http.HttpMethod.GET;

import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.metric.Metrics;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxListener;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The health of the database, over HTTP and as metrics. Metrics come from memory, refreshed in the
 * background, so a scrape never waits. Thread-safe.
 */
public final class DatabaseHealth implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DatabaseHealth.class);
  private static final Duration INTERVAL = Duration.ofSeconds(15);
  private static final long CLOSE_SECONDS = 10;

  private final Supplier<PoolUse> pool;
  private final AttemptCounts attempts = new AttemptCounts();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "lockstep-database-health");
            thread.setDaemon(true);
            return thread;
          });
  private volatile @Nullable HealthReader reader;
  private volatile @Nullable HealthReport latest;

  public DatabaseHealth(Supplier<PoolUse> pool, Metrics metrics) {
    this.pool = pool;
    for (Measure measure : Measure.values()) {
      String name = measure.name().toLowerCase(Locale.ROOT);
      metrics.gauge(
          "lockstep.database.health",
          "Measures of the database's health, by name; NaN before the first reading.",
          () -> value(measure),
          "measure",
          name);
      metrics.gauge(
          "lockstep.database.health.level",
          "Level of each measure: 0 ok, 1 warning, 2 critical; NaN before the first reading.",
          () -> level(measure),
          "measure",
          name);
    }
  }

  /** Counts failures; for the transactor. */
  public TxListener transactions() {
    return attempts;
  }

  /** Starts to read periodically; earlier events are not counted. Blocks. */
  public void start(Transactor transactor) {
    reader = new HealthReader(transactor, attempts, pool);
    var unused =
        timer.scheduleWithFixedDelay(this::look, 0, INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
  }

  public List<Endpoint> endpoints(Workers workers) {
    return List.of(
        Endpoint.of(
                GET,
                "/v1/database",
                "Shows lock waits, old transactions, tables to vacuum, and failures.")
            .by(Role.OPERATOR)
            .answering(200, HealthView.SHAPE)
            .handledBy(request -> workers.read(request, () -> Answer.ok(HealthView.json(read())))));
  }

  @Override
  public void close() {
    timer.shutdownNow();
    try {
      if (!timer.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        log.warn("Reading the database's health did not end within {} s", CLOSE_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private HealthReport read() {
    HealthReport report = Objects.requireNonNull(reader).read();
    latest = report;
    return report;
  }

  private void look() {
    try {
      read();
    } catch (RuntimeException | Error e) {
      // An exception would end the schedule.
      log.warn("Reading the database's health failed; the next round retries: {}", e.toString());
    }
  }

  private double value(Measure measure) {
    HealthReport known = latest;
    return known == null ? Double.NaN : measure.of(known);
  }

  private double level(Measure measure) {
    HealthReport known = latest;
    return known == null ? Double.NaN : measure.level(known).code();
  }
}
