package dev.lockstep.server.metric;

import dev.lockstep.job.QueueView;
import dev.lockstep.server.job.JobListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** Metrics of jobs: runs on this node by kind and ending, and the last reading of each queue. */
final class JobFigures implements JobListener {
  /** Clients choose queue names, and each adds six lines to every scrape. */
  static final int MAX_QUEUES = 50;

  /** All further queues together. */
  static final String OTHERS = "other";

  private final Metrics metrics;
  private final ResultFigures claims;
  private final Map<String, Kind> kinds = new ConcurrentHashMap<>();
  private final MultiGauge jobs;
  private final MultiGauge oldest;
  private final MultiGauge paused;
  private volatile List<String> served = List.of();

  private record Kind(Map<Ending, Counter> runs, Timer duration) {}

  /** The metrics of one queue, or of all those that are not shown one by one. */
  private record Shown(
      long scheduled,
      long ready,
      long running,
      long dead,
      double oldestAgeSeconds,
      boolean paused) {
    private static final Shown NOTHING = new Shown(0, 0, 0, 0, 0, false);

    static Shown of(QueueView queue, Instant now) {
      return new Shown(
          queue.scheduled(),
          queue.ready(),
          queue.running(),
          queue.dead(),
          age(queue, now),
          queue.paused());
    }

    Shown and(Shown other) {
      return new Shown(
          scheduled + other.scheduled,
          ready + other.ready,
          running + other.running,
          dead + other.dead,
          Math.max(oldestAgeSeconds, other.oldestAgeSeconds),
          paused || other.paused);
    }
  }

  JobFigures(Metrics metrics) {
    this.metrics = metrics;
    this.claims = metrics.results("claim");
    this.jobs =
        metrics.gauges(
            "lockstep.queue.jobs", "Jobs of the queue, over all nodes, when last counted.");
    this.oldest =
        metrics.gauges(
            "lockstep.queue.oldest.due.age.seconds", "How long the oldest due job is overdue.");
    this.paused = metrics.gauges("lockstep.queue.paused", "1 while the queue is paused.");
  }

  @Override
  public void onStart(List<String> queues, List<String> kindsServed) {
    // Registered at zero, so that the first increase is visible.
    kindsServed.forEach(this::kind);
    served = List.copyOf(queues);
    onQueues(List.of());
  }

  @Override
  public void onRun(String queue, String kind, Ending ending, Duration took) {
    Kind figures = kind(kind);
    Objects.requireNonNull(figures.runs().get(ending)).increment();
    figures.duration().record(took);
  }

  @Override
  public void onClaimEnd(boolean accepted) {
    claims.add(accepted ? 1 : 0, accepted ? 0 : 1);
  }

  @Override
  public void onQueues(List<QueueView> queues) {
    Instant now = Instant.now();
    Map<String, Shown> shown = new LinkedHashMap<>();
    served.forEach(name -> shown.put(name, Shown.NOTHING));
    queues.stream()
        .sorted(
            Comparator.comparing((QueueView queue) -> !served.contains(queue.name()))
                .thenComparing(Comparator.comparingLong(JobFigures::size).reversed()))
        .forEach(
            queue -> {
              boolean own = shown.containsKey(queue.name()) || shown.size() < MAX_QUEUES;
              shown.merge(own ? queue.name() : OTHERS, Shown.of(queue, now), Shown::and);
            });
    List<MultiGauge.Row<?>> states = new ArrayList<>();
    shown.forEach(
        (name, one) -> {
          states.add(Row.of(Tags.of("queue", name, "state", "scheduled"), one.scheduled()));
          states.add(Row.of(Tags.of("queue", name, "state", "ready"), one.ready()));
          states.add(Row.of(Tags.of("queue", name, "state", "running"), one.running()));
          states.add(Row.of(Tags.of("queue", name, "state", "dead"), one.dead()));
        });
    jobs.register(states, true);
    oldest.register(rows(shown, Shown::oldestAgeSeconds), true);
    paused.register(rows(shown, one -> one.paused() ? 1 : 0), true);
  }

  private static List<MultiGauge.Row<?>> rows(
      Map<String, Shown> shown, Function<Shown, Number> value) {
    List<MultiGauge.Row<?>> rows = new ArrayList<>();
    shown.forEach((name, one) -> rows.add(Row.of(Tags.of("queue", name), value.apply(one))));
    return rows;
  }

  private static long size(QueueView queue) {
    return queue.scheduled() + queue.ready() + queue.running() + queue.dead();
  }

  private static double age(QueueView queue, Instant now) {
    return queue
        .oldestDue()
        .map(due -> Math.max(0, Duration.between(due, now).toMillis() / 1_000.0))
        .orElse(0.0);
  }

  private Kind kind(String kind) {
    return kinds.computeIfAbsent(kind, this::register);
  }

  private Kind register(String kind) {
    Map<Ending, Counter> runs =
        Metrics.each(
            Ending.class,
            ending ->
                metrics.counter(
                    "lockstep.jobs.runs",
                    "Runs of jobs on this node.",
                    "kind",
                    kind,
                    "outcome",
                    ending.name().toLowerCase(Locale.ROOT)));
    return new Kind(
        runs,
        metrics.timer(
            "lockstep.jobs.run.duration", "How long jobs ran on this node.", "kind", kind));
  }
}
