package dev.lockstep.bench;

import dev.lockstep.broker.KafkaBroker;
import dev.lockstep.kafka.KafkaConfig;
import dev.lockstep.kafka.KafkaSink;
import dev.lockstep.outbox.Event;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.OutboxConfig;
import dev.lockstep.outbox.Relay;
import dev.lockstep.outbox.RelayConfig;
import dev.lockstep.outbox.Sink;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.SqlArray;
import dev.lockstep.tx.Transactor;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The outbox: Lockstep to nobody and to Kafka, transaction-outbox, the documents, the ceilings. */
final class OutboxBench {
  static final int PORTFOLIOS = 1_000;

  private static final String SMALL = "a small transaction";
  private static final String SMALL_WITH = "a small transaction that appends an event";
  private static final String APPEND = "Lockstep append, batches of 2,000";
  private static final String RELAY = "Lockstep relay to a counting sink";
  private static final String BEHIND = "Lockstep relay, 10 million events behind it";
  private static final String RELAY_KAFKA = "Lockstep relay to Kafka";
  private static final String HOT = "Lockstep append and relay, one hot key";
  private static final String HOT_KAFKA = "Lockstep relay to Kafka, one hot key";
  private static final String LATENCY = "Lockstep commit to publish, counting sink";
  private static final String LATENCY_KAFKA = "Lockstep commit to publish, Kafka";
  private static final String PEER = "transaction-outbox, in no order";
  private static final String PRODUCER = "ceiling: Kafka's own producer";
  private static final String PLAIN = "ceiling: plain insert, batches of 2,000";

  private static final String COUNTING = "counting";
  private static final int BATCH = 2_000;
  private static final int HOT_BATCH = 100;
  private static final int TOPIC_PARTITIONS = 8;
  private static final int DOCUMENT_EVENTS = 20_000;
  private static final double MIN_WARM_UP_SECONDS = 3;

  private final BenchDatabase database;
  private final int seconds;
  private final Report report;
  private final Transactor transactor;
  private final Outbox outbox;
  private int lastStream;

  private OutboxBench(BenchDatabase database, int seconds, Report report) {
    this.database = database;
    this.seconds = seconds;
    this.report = report;
    this.transactor = new Transactor(database.pool());
    this.outbox = new Outbox(transactor, OutboxConfig.DEFAULT);
  }

  static void run(BenchDatabase database, int seconds, Report report) throws Exception {
    OutboxBench bench = new OutboxBench(database, seconds, report);
    bench.drain("warm-up", events(seconds) / 2, null, stream -> {});
    bench.smallTransactions();
    bench.plainInsert();
    bench.toNobody();
    bench.hotKey();
    bench.latency(LATENCY, null);
    bench.peer();
    bench.documents();
    bench.kafka();
    bench.behind();
    bench.aims();
  }

  private static int events(int seconds) {
    return 50_000 * seconds;
  }

  private void aims() {
    Measured relay = report.find(RELAY, 1);
    Measured latency = report.find(LATENCY, 16);
    report.atLeast(
        "relay to a counting sink / transaction-outbox", relay, report.find(PEER, 1), 40);
    report.atLeast(
        "relay to Kafka / Kafka's own producer",
        report.find(RELAY_KAFKA, 1),
        report.find(PRODUCER, 1),
        0.5);
    report.atMost(
        "p50 of a small transaction that appends / that does not",
        report.find(SMALL_WITH, 1).p50Ms(),
        report.find(SMALL, 1).p50Ms(),
        1.25);
    report.atMost("commit to publish, p50 in ms / 10 ms, 1,000 events/s", latency.p50Ms(), 10, 1);
    report.atMost("commit to publish, p99 in ms / 50 ms, 1,000 events/s", latency.p99Ms(), 50, 1);
    report.atLeast(
        "one hot key in order / 5,000 a second", report.find(HOT, 1).perSecond(), 5_000, 1);
    report.atLeast(
        "relay with 10 million events behind it / without", report.find(BEHIND, 1), relay, 0.9);
  }

  private Measured add(String name, double perSecond, long count) {
    return report.add(new Measured(name, 1, perSecond, 0, 0, 0, count, ""));
  }

  /** A stream of its own, with one sink that counts. */
  private String define(SinkSpec... sinks) {
    String stream = "bench-" + ++lastStream;
    outbox.define(stream, List.of(sinks), "bench");
    return stream;
  }

  private static SinkSpec countingSpec() {
    return SinkSpec.of("sink", COUNTING, "");
  }

  private Relay relay(Sink sink) {
    return outbox.relay(
        RelayConfig.named("bench").withListen(database.pool()),
        SinkTypes.standard().with(COUNTING, (stream, spec) -> sink));
  }

  /** So that the next relay has nothing to do with it. */
  private void retire(String stream) {
    outbox.define(stream, List.of(), "bench");
  }

  /** Nobody pays for what the one before left to be written. */
  private void settle() throws SQLException {
    database.execute("CHECKPOINT");
  }

  /** Told of the stream before its events are appended. */
  @FunctionalInterface
  private interface Prepare {
    void prepare(String stream) throws SQLException;
  }

  /** Appends events, then starts a relay and lets it deliver them all; how many a second. */
  private double drain(String name, int count, @Nullable Sink inner, Prepare prepare)
      throws Exception {
    String stream = define();
    prepare.prepare(stream);
    outbox.define(stream, List.of(countingSpec().startingNow()), "bench");
    append(name, stream, count, PORTFOLIOS);
    return deliver(name, stream, count, inner);
  }

  private double deliver(String name, String stream, int count, @Nullable Sink inner)
      throws Exception {
    settle();
    Progress.say("%s", name);
    CountingSink sink = new CountingSink(inner, count, event -> {});
    Relay relay = relay(sink);
    try {
      return sink.await(name);
    } finally {
      relay.close();
      retire(stream);
    }
  }

  /** How many a second. */
  private double append(String name, String stream, int count, int portfolios) {
    Progress.say("%s: appending", name);
    long startedNanos = System.nanoTime();
    for (int from = 0; from < count; from += BATCH) {
      List<NewEvent> events =
          Trades.events(stream, from, Math.min(BATCH, count - from), portfolios);
      transactor.run(connection -> outbox.appendAll(connection, events));
    }
    return count / ((System.nanoTime() - startedNanos) / 1e9);
  }

  private void smallTransactions() throws Exception {
    database.execute(
        """
        CREATE TABLE bench_portfolio (id int PRIMARY KEY, trades bigint NOT NULL)
          WITH (fillfactor = 50);
        INSERT INTO bench_portfolio SELECT n, 0 FROM generate_series(0, 999) n;
        CREATE TABLE bench_trade (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          portfolio int NOT NULL, detail text NOT NULL)""");
    String stream = define();
    settle();
    List<Measured> results =
        InTurns.run(
            seconds,
            new InTurns(SMALL, n -> transactor.run(c -> trade(c, n))),
            new InTurns(
                SMALL_WITH,
                n ->
                    transactor.run(
                        c -> {
                          trade(c, n);
                          outbox.append(c, Trades.event(stream, n, PORTFOLIOS));
                        })));
    Report.requireBalance(
        SMALL_WITH,
        results.get(0).acknowledged() + results.get(1).acknowledged(),
        database.number("SELECT sum(trades) FROM bench_portfolio"));
    results.forEach(report::add);
  }

  private static void trade(Connection connection, long number) throws SQLException {
    int portfolio = (int) (number % PORTFOLIOS);
    Sql.run(connection, "UPDATE bench_portfolio SET trades = trades + 1 WHERE id = ?", portfolio);
    Sql.run(
        connection,
        "INSERT INTO bench_trade (portfolio, detail) VALUES (?, ?)",
        portfolio,
        Trades.json(number));
  }

  private void plainInsert() throws Exception {
    database.execute(
        """
        CREATE TABLE bench_plain (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          key text NOT NULL, type text NOT NULL, data bytea NOT NULL,
          appended_at timestamptz NOT NULL DEFAULT clock_timestamp())""");
    Measured batches =
        Load.run(PLAIN, 1, seconds, n -> transactor.run(c -> insertPlain(c, n * BATCH)));
    Report.requireBalance(
        PLAIN, batches.acknowledged() * BATCH, database.number("SELECT count(*) FROM bench_plain"));
    report.add(batches.times(BATCH));
    database.execute("DROP TABLE bench_plain");
  }

  private static void insertPlain(Connection connection, long from) throws SQLException {
    String[] keys = new String[BATCH];
    byte[][] data = new byte[BATCH][];
    for (int i = 0; i < BATCH; i++) {
      keys[i] = Trades.portfolio(from + i, PORTFOLIOS);
      data[i] = Trades.json(from + i).getBytes(StandardCharsets.UTF_8);
    }
    RoundTrip trip = new RoundTrip(connection);
    trip.update(
        """
        INSERT INTO bench_plain (key, type, data)
        SELECT x.key, ?, x.data FROM unnest(?::text[], ?::bytea[]) x(key, data)""",
        Trades.TYPE,
        SqlArray.texts(List.of(keys)),
        new SqlArray("bytea", data));
    trip.send();
  }

  private void toNobody() throws Exception {
    int count = events(seconds);
    String stream = define(countingSpec());
    add(APPEND, append(RELAY, stream, count, PORTFOLIOS), count);
    add(RELAY, deliver(RELAY, stream, count, null), count);
  }

  private void hotKey() throws Exception {
    Progress.say("%s", HOT);
    String stream = define(countingSpec());
    CountingSink sink = new CountingSink(null, Long.MAX_VALUE, event -> {});
    AtomicBoolean over = new AtomicBoolean();
    Thread writer =
        new Thread(
            () -> {
              for (long from = 0; !over.get(); from += HOT_BATCH) {
                List<NewEvent> events = Trades.events(stream, from, HOT_BATCH, 1);
                transactor.run(connection -> outbox.appendAll(connection, events));
              }
            },
            "hot-key-writer");
    Relay relay = relay(sink);
    try {
      writer.start();
      pause(MIN_WARM_UP_SECONDS);
      long before = sink.delivered();
      long startedNanos = System.nanoTime();
      pause(seconds);
      long delivered = sink.delivered() - before;
      add(HOT, delivered / ((System.nanoTime() - startedNanos) / 1e9), delivered);
      over.set(true);
      writer.join();
    } finally {
      over.set(true);
      relay.close();
      retire(stream);
    }
    sink.requireOrder(HOT);
  }

  private static void pause(double seconds) throws InterruptedException {
    TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
  }

  private void latency(String name, @Nullable Sink inner) throws Exception {
    Progress.say("%s", name);
    String stream = define(countingSpec());
    CommitToPublish pace = new CommitToPublish(seconds);
    Consumer<Event> published = pace::published;
    CountingSink sink = new CountingSink(inner, pace.count(), published);
    settle();
    Relay relay = relay(sink);
    try {
      pace.write(transactor, outbox, stream);
      sink.await(name);
    } finally {
      relay.close();
      retire(stream);
    }
    report.add(pace.measured(name));
  }

  private void peer() throws Exception {
    Progress.say("%s", PEER);
    TransactionOutboxFlow.run(PEER, database, 500 * seconds);
    settle();
    int count = 2_000 * seconds;
    add(PEER, TransactionOutboxFlow.run(PEER, database, count), count);
  }

  private void documents() throws Exception {
    Progress.say("the documents' query");
    DocumentRelay.Outcome outcome = DocumentRelay.run(database, DOCUMENT_EVENTS);
    String name =
        "the documents' query, 4 relays, %,d repeats of %,d events"
            .formatted(outcome.sentTwice(), DOCUMENT_EVENTS);
    add(name, outcome.perSecond(), DOCUMENT_EVENTS);
  }

  private void kafka() throws Exception {
    Progress.say("Starting Kafka");
    try (KafkaBroker broker = KafkaBroker.start()) {
      int count = events(seconds);
      String servers = broker.bootstrapServers();
      KafkaConfig config = KafkaConfig.of(servers, "bench");
      for (String topic : List.of("warm-up", "producer", "relay", "hot", "latency")) {
        broker.createTopic(topic, TOPIC_PARTITIONS, Map.of());
      }
      KafkaFlow.produce(PRODUCER, servers, "warm-up", count);
      drain("warm-up", count / 2, sink(config, "warm-up"), stream -> {});
      Progress.say("%s", PRODUCER);
      add(PRODUCER, KafkaFlow.produce(PRODUCER, servers, "producer", count), count);
      double relayed = drain(RELAY_KAFKA, count, sink(config, "relay"), stream -> {});
      KafkaFlow.requireInOrder(RELAY_KAFKA, servers, "relay", count);
      add(RELAY_KAFKA, relayed, count);
      hotKeyToKafka(config, count / 2);
      KafkaFlow.requireInOrder(HOT_KAFKA, servers, "hot", count / 2);
      latency(LATENCY_KAFKA, sink(config, "latency"));
    }
  }

  private static Sink sink(KafkaConfig config, String topic) {
    return KafkaSink.on(config).create(topic, SinkSpec.of("sink", KafkaSink.TYPE, topic));
  }

  private void hotKeyToKafka(KafkaConfig config, int count) throws Exception {
    String stream = define(countingSpec());
    append(HOT_KAFKA, stream, count, 1);
    add(HOT_KAFKA, deliver(HOT_KAFKA, stream, count, sink(config, "hot")), count);
  }

  /** A sink that begins behind ten million events of its stream. */
  private void behind() throws Exception {
    long[] written = new long[1];
    double perSecond =
        drain(
            BEHIND,
            events(seconds),
            null,
            stream -> written[0] = EventsBehind.seed(database, outbox, stream));
    if (written[0] < EventsBehind.COUNT) {
      report.add(
          Measured.skipped(BEHIND, 1, "only %,d were written in time".formatted(written[0])));
    } else {
      add(BEHIND, perSecond, events(seconds));
    }
  }
}
