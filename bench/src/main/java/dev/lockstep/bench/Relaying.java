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

/** The outbox under measurement: streams of their own, and a relay that counts what it delivers. */
final class Relaying {
  static final int PORTFOLIOS = 1_000;
  static final int BATCH = 2_000;

  /** Of as many the median counts. */
  static final int ROUNDS = 3;

  /** Rounds after which a warm-up is over. */
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

  /** A stream that nobody reads. */
  String define() {
    String stream = "bench-" + ++lastStream;
    outbox.define(stream, List.of(), "bench");
    return stream;
  }

  /** A stream that nobody has read yet, of so many events. */
  String backlog(String name, int count, int portfolios) {
    String stream = define();
    append(name, stream, count, portfolios);
    return stream;
  }

  /** Has what is committed from now on counted. */
  void count(String stream) {
    outbox.define(stream, List.of(SinkSpec.of("sink", COUNTING, "").startingNow()), "bench");
  }

  /** So that the next relay has nothing to do with it. */
  void retire(String stream) {
    outbox.define(stream, List.of(), "bench");
  }

  /**
   * Nobody pays for what the one before left to be written; nor does whoever reads a row first, by
   * noting in its page that it is committed, which after a checkpoint puts the whole page into the
   * log: a vacuum has done that, as autovacuum does within a minute.
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

  /** How many a second. */
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
   * Has a stream delivered from its first event on, as often as asked for: whoever begins to read
   * it finds it as it was.
   *
   * @param inner where to; null: nowhere
   * @return how many a second
   */
  double deliverAll(String name, String stream, int count, @Nullable Sink inner) throws Exception {
    outbox.define(stream, List.of(SinkSpec.of("sink", COUNTING, "")), "bench");
    return deliver(name, stream, count, inner);
  }

  /** The same again and again, until it gets no faster. */
  void warmUp(String name, String stream, int count, @Nullable Sink inner) throws Exception {
    WarmUp.run(MAX_WARM_UPS, () -> deliverAll(name, stream, count, inner));
  }

  /** Starts a relay and lets it deliver what the stream's sink has before it; how many a second. */
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
   * From commit to publish, while events come at their pace.
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
