package dev.lockstep.server.metric;

import dev.lockstep.outbox.RelayListener;
import dev.lockstep.outbox.SinkHealth;
import dev.lockstep.outbox.SinkLag;
import dev.lockstep.server.stream.StreamListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToDoubleFunction;

/** Metrics of streams: how far each sink was behind at the last reading. Sinks come and go. */
final class StreamFigures implements StreamListener, RelayListener {
  private final Metrics metrics;
  private final ResultFigures cursors;
  private final Map<SinkName, Sent> sent = new ConcurrentHashMap<>();
  private final MultiGauge events;
  private final MultiGauge seconds;
  private final MultiGauge parked;
  private final MultiGauge heldBack;
  private final MultiGauge delivered;
  private final MultiGauge down;
  private volatile int partitions;

  private record SinkName(String stream, String name) {}

  private record Sent(Counter delivered, Counter failed) {}

  StreamFigures(Metrics metrics) {
    this.metrics = metrics;
    cursors = metrics.results("relay");
    events =
        metrics.gauges(
            "lockstep.stream.lag.events",
            "Events committed but not delivered, except those of parked keys.");
    seconds =
        metrics.gauges(
            "lockstep.stream.lag.seconds",
            "Age of the oldest undelivered event, except those of parked keys.");
    parked =
        metrics.gauges(
            "lockstep.stream.parked.keys", "Keys that are parked until an operator acts.");
    heldBack =
        metrics.gauges("lockstep.stream.held.back.events", "Events of parked and waiting keys.");
    delivered =
        metrics.gauges(
            "lockstep.stream.delivered.events",
            "Events delivered since the sink was defined, repetitions included.");
    down = metrics.gauges("lockstep.stream.sink.down", "1 while this node finds the sink down.");
    metrics.gauge(
        "lockstep.relay.partitions",
        "Partitions that this node owns and relays.",
        () -> partitions);
  }

  @Override
  public void onLags(List<SinkLag> lags, List<SinkHealth> health, int owned) {
    partitions = owned;
    show(events, lags, SinkLag::events);
    show(seconds, lags, lag -> lag.age().toMillis() / 1_000.0);
    show(parked, lags, SinkLag::parkedKeys);
    show(heldBack, lags, SinkLag::heldBack);
    show(delivered, lags, SinkLag::delivered);
    show(down, lags, lag -> isDown(lag, health) ? 1 : 0);
    Set<SinkName> there = new HashSet<>();
    lags.forEach(lag -> there.add(new SinkName(lag.stream(), lag.sink())));
    there.forEach(this::sent);
    for (SinkName name : sent.keySet()) {
      if (!there.contains(name)) {
        forget(name);
      }
    }
  }

  @Override
  public void onDelivery(String stream, String sink, int had, int refused) {
    Sent counts = sent(new SinkName(stream, sink));
    counts.delivered().increment(had);
    counts.failed().increment(refused);
  }

  @Override
  public void onCursors(int accepted, int stale) {
    cursors.add(accepted, stale);
  }

  private Sent sent(SinkName name) {
    return sent.computeIfAbsent(
        name, one -> new Sent(counter(one, "delivered"), counter(one, "failed")));
  }

  private Counter counter(SinkName sink, String outcome) {
    return metrics.counter(
        "lockstep.stream.deliveries",
        "Events that this node has sent to a sink, by result.",
        "stream",
        sink.stream(),
        "sink",
        sink.name(),
        "outcome",
        outcome);
  }

  private void forget(SinkName name) {
    Sent gone = sent.remove(name);
    if (gone != null) {
      metrics.remove(gone.delivered());
      metrics.remove(gone.failed());
    }
  }

  private static boolean isDown(SinkLag lag, List<SinkHealth> health) {
    return health.stream()
        .anyMatch(
            one ->
                one.stream().equals(lag.stream())
                    && one.sink().equals(lag.sink())
                    && one.down().isPresent());
  }

  private static void show(MultiGauge gauge, List<SinkLag> lags, ToDoubleFunction<SinkLag> value) {
    gauge.register(
        lags.stream().map(lag -> row(lag.stream(), lag.sink(), value.applyAsDouble(lag))).toList(),
        true);
  }

  private static Row<Number> row(String stream, String sink, double value) {
    return Row.of(Tags.of("stream", stream, "sink", sink), value);
  }
}
