package dev.lockstep.server.health;

import static io.vertx.core.http.HttpMethod.GET;

import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.duty.DutyTimer;
import dev.lockstep.server.metric.Metrics;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxListener;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The health of the database, over HTTP and as metrics. Metrics come from memory, refreshed in the
 * background, so a scrape never waits. Thread-safe.
 */
public final class DatabaseHealth implements AutoCloseable {
  private static final Duration INTERVAL = Duration.ofSeconds(15);

  private final Supplier<PoolUse> pool;
  private final AttemptCounts attempts = new AttemptCounts();
  private final DutyTimer timer = new DutyTimer("database-health");
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
    timer.repeat(Duration.ZERO, INTERVAL, "Reading the database's health failed", this::read);
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
    timer.close();
  }

  private HealthReport read() {
    HealthReport report = Objects.requireNonNull(reader).read();
    latest = report;
    return report;
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
