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
import java.util.function.Supplier;

/**
 * The figures of one server. Counting is a few additions in memory, so it may be done on any path;
 * {@link #scrape} reads memory only. Thread-safe.
 */
public final class Metrics {
  /** From a lone caller's transaction to what a buyer still waits for. */
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

  /** Requests and their answers. */
  public HttpFigures http() {
    return http;
  }

  /** Purchases, and what was paid for them. */
  public PurchaseFigures purchases() {
    return purchases;
  }

  /** Transactions: to be given to the transactor. */
  public TxListener transactions() {
    return new TxFigures(this);
  }

  /** Payments: to be given to their client. */
  public PaymentListener payments() {
    return new PaymentFigures(this);
  }

  /** Jobs that this node runs: to be given to its runner. */
  public JobListener jobs() {
    return new JobFigures(this);
  }

  /** Reads and results of jobs: to be given to the block. */
  public JobsListener work() {
    return new WorkFigures(this);
  }

  /** Deliveries to webhooks. */
  public DeliveryListener deliveries() {
    return new DeliveryFigures(this);
  }

  /** Streams and their sinks. */
  public StreamListener streams() {
    return streams;
  }

  /** What this node's relay sends and writes: to be given to it. */
  public RelayListener relay() {
    return streams;
  }

  /** Results that are fenced: reports of workers, of claimers, and a relay's cursors. */
  ResultFigures results(String block) {
    return new ResultFigures(this, block);
  }

  /** Batches: to be given to a combiner of this name. */
  public CombinerListener batches(String combiner) {
    return new BatchFigures(this, combiner);
  }

  /** A number that is read when somebody asks. */
  public void gauge(String name, String help, Supplier<Number> value, String... tags) {
    Gauge.builder(name, value).description(help).tags(tags).register(registry);
  }

  /** Numbers of things that come and go. */
  MultiGauge gauges(String name, String help) {
    return MultiGauge.builder(name).description(help).register(registry);
  }

  /** Something that only grows; Prometheus sees the name with {@code _total} behind it. */
  public Counter counter(String name, String help, String... tags) {
    return Counter.builder(name).description(help).tags(tags).register(registry);
  }

  /** Durations, counted by bounds; Prometheus sees the name with {@code _seconds} behind it. */
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

  /** Shows it no more. */
  void remove(Counter counter) {
    registry.remove(counter);
  }

  /** In Prometheus' text format, version 0.0.4. */
  public String scrape() {
    return registry.scrape();
  }
}
