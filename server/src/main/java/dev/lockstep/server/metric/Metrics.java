package dev.lockstep.server.metric;

import dev.lockstep.combine.CombinerListener;
import dev.lockstep.job.JobsListener;
import dev.lockstep.outbox.RelayListener;
import dev.lockstep.server.delivery.DeliveryListener;
import dev.lockstep.server.job.JobListener;
import dev.lockstep.server.payment.PaymentListener;
import dev.lockstep.server.stream.StreamListener;
import dev.lockstep.tx.TxListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The metrics of one server. Counting costs a few additions in memory, so any path may do it;
 * {@link #scrape} reads memory only. Thread-safe.
 */
public final class Metrics {
  /** From a lone caller's transaction to the longest wait a buyer tolerates. */
  private static final Duration[] BOUNDS = {
    Duration.ofMillis(1),
    Duration.ofNanos(2_500_000),
    Duration.ofMillis(5),
    Duration.ofMillis(10),
    Duration.ofMillis(25),
    Duration.ofMillis(50),
    Duration.ofMillis(100),
    Duration.ofMillis(200),
    Duration.ofMillis(250),
    Duration.ofMillis(500),
    Duration.ofSeconds(1),
    Duration.ofMillis(2_500),
    Duration.ofSeconds(5),
    Duration.ofSeconds(10)
  };

  private static final double[] SIZES = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000};

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final PurchaseFigures purchases = new PurchaseFigures(this, System::nanoTime);
  private final HttpFigures http = new HttpFigures(this, purchases);
  private final StreamFigures streams = new StreamFigures(this);

  public HttpFigures http() {
    return http;
  }

  public PurchaseFigures purchases() {
    return purchases;
  }

  /** For the transactor. */
  public TxListener transactions() {
    return new TxFigures(this);
  }

  /** For the payment client. */
  public PaymentListener payments() {
    return new PaymentFigures(this);
  }

  /** For the job runner. */
  public JobListener jobs() {
    return new JobFigures(this);
  }

  /** For the job block: reads and results. */
  public JobsListener work() {
    return new WorkFigures(this);
  }

  public DeliveryListener deliveries() {
    return new DeliveryFigures(this);
  }

  public StreamListener streams() {
    return streams;
  }

  /** For this node's relay. */
  public RelayListener relay() {
    return streams;
  }

  /** Fenced results: of workers, of claimers, and of a relay's cursors. */
  ResultFigures results(String block) {
    return new ResultFigures(this, block);
  }

  /** For the combiner of this name. */
  public CombinerListener batches(String combiner) {
    return new BatchFigures(this, combiner);
  }

  /** A number that is read at every scrape. */
  public void gauge(String name, String help, Supplier<Number> value, String... tags) {
    Gauge.builder(name, value).description(help).tags(tags).register(registry);
  }

  /** A set of numbers whose members come and go. */
  MultiGauge gauges(String name, String help) {
    return MultiGauge.builder(name).description(help).register(registry);
  }

  /** A count that only grows; Prometheus appends {@code _total} to the name. */
  public Counter counter(String name, String help, String... tags) {
    return Counter.builder(name).description(help).tags(tags).register(registry);
  }

  /** Durations in buckets; Prometheus appends {@code _seconds} to the name. */
  public Timer timer(String name, String help, String... tags) {
    return Timer.builder(name)
        .description(help)
        .tags(tags)
        .serviceLevelObjectives(BOUNDS)
        .register(registry);
  }

  DistributionSummary sizes(String name, String help, String... tags) {
    return DistributionSummary.builder(name)
        .description(help)
        .tags(tags)
        .serviceLevelObjectives(SIZES)
        .register(registry);
  }

  /** No longer shows this counter. */
  void remove(Counter counter) {
    registry.remove(counter);
  }

  /** Renders Prometheus' text format, version 0.0.4. */
  public String scrape() {
    return registry.scrape();
  }

  /** One meter for each value. */
  static <E extends Enum<E>, M> Map<E, M> each(Class<E> values, Function<E, M> meter) {
    Map<E, M> meters = new EnumMap<>(values);
    for (E value : EnumSet.allOf(values)) {
      meters.put(value, meter.apply(value));
    }
    return meters;
  }
}
