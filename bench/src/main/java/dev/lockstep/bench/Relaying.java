package dev.lockstep.bench;

import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.OutboxConfig;
import dev.lockstep.outbox.Relay;
import dev.lockstep.outbox.RelayConfig;
import dev.lockstep.outbox.Sink;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.tx.Transactor;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The outbox under measurement: streams of its own, and a relay that counts deliveries. */
final class Relaying {
  static final int PORTFOLIOS = 1_000;
  static final int BATCH = 2_000;

  /** Rounds of a measurement; the median counts. */
  static final int ROUNDS = 3;

  /** The most rounds of a warm-up. */
  static final int MAX_WARM_UPS = 8;

  private static final String COUNTING = "counting";

  final BenchDatabase database;
  final Transactor transactor;
  final Outbox outbox;
  private int lastStream;

  Relaying(BenchDatabase database) {
    this.database = database;
    this.transactor = new Transactor(database.pool());
    this.outbox = new Outbox(transactor, OutboxConfig.DEFAULT);
  }

  /** Defines a stream without sinks. */
  String define() {
    String stream = "bench-" + ++lastStream;
    outbox.define(stream, List.of(), "bench");
    return stream;
  }

  /** A stream without sinks, with this many events. */
  String backlog(String name, int count, int portfolios) {
    String stream = define();
    append(name, stream, count, portfolios);
    return stream;
  }

  /** Adds a sink for what is committed from now on. */
  void count(String stream) {
    outbox.define(stream, List.of(SinkSpec.of("sink", COUNTING, "").startingNow()), "bench");
  }

  /** Removes the stream's sinks, so that the next relay ignores it. */
  void retire(String stream) {
    outbox.define(stream, List.of(), "bench");
  }

  /**
   * Writes out what earlier contenders left, so that the next one does not pay for it. A vacuum
   * also sets the hint bits of new rows, as autovacuum does within a minute; otherwise the first
   * reader of each page after a checkpoint would log the whole page.
   */
  void settle() throws SQLException {
    database.execute("VACUUM lockstep.outbox_event");
    database.execute("CHECKPOINT");
  }

  RelayConfig config() {
    return RelayConfig.named("bench").withListen(database.direct());
  }

  Relay start(RelayConfig config, Sink sink) {
    return outbox.relay(config, SinkTypes.standard().with(COUNTING, (stream, spec) -> sink));
  }

  /** Appends events; returns the rate per second. */
  double append(String name, String stream, int count, int portfolios) {
    Progress.say("%s: appending", name);
    long startedNanos = System.nanoTime();
    for (int from = 0; from < count; from += BATCH) {
      List<NewEvent> events =
          Trades.events(stream, from, Math.min(BATCH, count - from), portfolios);
      transactor.run(connection -> outbox.appendAll(connection, events));
    }
    return count / ((System.nanoTime() - startedNanos) / 1e9);
  }

  /**
   * Delivers a stream from its first event on; every call starts from the same state.
   *
   * @param inner the target; null for none
   * @return events per second
   */
  double deliverAll(String name, String stream, int count, @Nullable Sink inner) throws Exception {
    outbox.define(stream, List.of(SinkSpec.of("sink", COUNTING, "")), "bench");
    return deliver(name, stream, count, inner);
  }

  /** Repeats until it gets no faster. */
  void warmUp(String name, String stream, int count, @Nullable Sink inner) throws Exception {
    WarmUp.run(MAX_WARM_UPS, () -> deliverAll(name, stream, count, inner));
  }

  /** Starts a relay that delivers the backlog of the stream's sink; returns the rate per second. */
  double deliver(String name, String stream, int count, @Nullable Sink inner) throws Exception {
    settle();
    Progress.say("%s", name);
    CountingSink sink = new CountingSink(inner, count, event -> {});
    Relay relay = start(config(), sink);
    try {
      return sink.await(name);
    } finally {
      relay.close();
      retire(stream);
    }
  }

  /**
   * Measures commit to publish at a fixed event rate.
   *
   * @param maxWarmUpSeconds when the warm-up ends at the latest
   */
  Measured latency(String name, int maxWarmUpSeconds, int seconds, @Nullable Sink inner)
      throws Exception {
    Progress.say("%s", name);
    String stream = define();
    count(stream);
    CommitToPublish pace = new CommitToPublish(maxWarmUpSeconds, seconds);
    CountingSink sink = new CountingSink(inner, Long.MAX_VALUE, pace::published);
    settle();
    Relay relay = start(config(), sink);
    try {
      long written = pace.write(transactor, outbox, stream);
      sink.await(name, written);
      return pace.measured(name, written);
    } finally {
      relay.close();
      retire(stream);
    }
  }
}
