package dev.lockstep.server.metric;

import dev.lockstep.job.QueueView;
import dev.lockstep.server.job.JobListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Jobs: runs on this node by kind and ending, and how each queue was when last looked at. */
final class JobFigures implements JobListener {
  private final Metrics metrics;
  private final ResultFigures claims;
  private final Map<String, Kind> kinds = new ConcurrentHashMap<>();
  private volatile Map<String, Seen> seen = Map.of();

  private record Kind(Map<Ending, Counter> runs, Timer duration) {}

  /** A queue, and how long the job that has waited longest had waited then. */
  private record Seen(QueueView queue, double oldestAgeSeconds) {}

  JobFigures(Metrics metrics) {
    this.metrics = metrics;
    this.claims = metrics.results("claim");
  }

  @Override
  public void onStart(List<String> queues, List<String> kindsServed) {
    // From the first scrape on, at zero: what appears with its first increase shows none.
    kindsServed.forEach(this::kind);
    queues.forEach(this::queue);
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
    seen =
        queues.stream()
            .collect(Collectors.toMap(QueueView::name, queue -> new Seen(queue, age(queue, now))));
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
        Stream.of(Ending.values())
            .collect(
                Collectors.toMap(
                    ending -> ending,
                    ending ->
                        metrics.counter(
                            "lockstep.jobs.runs",
                            "Runs of jobs on this node.",
                            "kind",
                            kind,
                            "outcome",
                            ending.name().toLowerCase(Locale.ROOT))));
    return new Kind(
        runs,
        metrics.timer(
            "lockstep.jobs.run.duration", "How long jobs ran on this node.", "kind", kind));
  }

  private void queue(String queue) {
    gauge(queue, "scheduled", one -> one.queue().scheduled());
    gauge(queue, "ready", one -> one.queue().ready());
    gauge(queue, "running", one -> one.queue().running());
    gauge(queue, "dead", one -> one.queue().dead());
    metrics.gauge(
        "lockstep.queue.oldest.due.age.seconds",
        "How long the job that has waited longest is overdue.",
        () -> of(queue, Seen::oldestAgeSeconds),
        "queue",
        queue);
    metrics.gauge(
        "lockstep.queue.paused",
        "1 while the queue is paused.",
        () -> of(queue, one -> one.queue().paused() ? 1 : 0),
        "queue",
        queue);
  }

  private void gauge(String queue, String state, ToDoubleFunction<Seen> value) {
    metrics.gauge(
        "lockstep.queue.jobs",
        "Jobs of the queue, over all nodes, when last counted.",
        () -> of(queue, value),
        "queue",
        queue,
        "state",
        state);
  }

  private double of(String queue, ToDoubleFunction<Seen> value) {
    Seen found = seen.get(queue);
    return found == null ? 0 : value.applyAsDouble(found);
  }
}
