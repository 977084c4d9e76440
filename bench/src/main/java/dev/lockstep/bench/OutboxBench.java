package dev.lockstep.bench;

import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.Relay;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.Transactor;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Lockstep to a counting sink and to Kafka, transaction-outbox, the documents, the ceilings. */
final class OutboxBench implements Benchmark {
  private static final String SMALL = "a small transaction";
  private static final String SMALL_WITH = "a small transaction that appends at commit";
  private static final String SMALL_AT_ONCE = "a small transaction that appends at once";
  private static final String APPEND = "Lockstep append, batches of 2,000";
  private static final String RELAY = "Lockstep relay to a counting sink";
  private static final String BEHIND = "Lockstep relay, 10 million events behind it";
  private static final String HOT = "Lockstep append and relay, one hot key";
  private static final String LATENCY = "Lockstep commit to publish, counting sink";
  private static final String PEER = "transaction-outbox, in no order";
  private static final String PLAIN = "ceiling: plain insert, batches of 2,000";

  private static final int HOT_BATCH = 100;
  private static final int DOCUMENT_EVENTS = 20_000;
  private static final double MIN_WARM_UP_SECONDS = 3;
  private static final int MAX_WARM_UP_SECONDS = 20;

  private final BenchRun run;
  private final BenchDatabase database;
  private final Report report;
  private final Relaying relaying;
  private final Transactor transactor;
  private final Outbox outbox;

  OutboxBench(BenchRun run) {
    this.run = run;
    this.database = run.database();
    this.report = run.report();
    this.relaying = new Relaying(database);
    this.transactor = relaying.transactor;
    this.outbox = relaying.outbox;
  }

  @Override
  public void measure() throws Exception {
    EventsBehind behind = EventsBehind.begin(relaying);
    // Many times what a relay reads ahead before it delivers anything.
    int count = 200_000 * run.seconds();
    String backlog = append(count);
    relaying.warmUp("warming up", backlog, count, null);
    smallTransactions();
    plainInsert();
    hotKey();
    report.add(relaying.latency(LATENCY, MAX_WARM_UP_SECONDS, run.seconds(), null));
    peer();
    documents();
    OutboxToKafka.run(run, relaying, backlog, count);
    toNobody(backlog, count);
    behind(behind, count);
  }

  @Override
  public void aims() {
    Measured relay = report.find(RELAY, 1);
    report.atLeast(
        "relay to a counting sink / transaction-outbox", relay, report.find(PEER, 1), 40);
    report.atLeast(
        "relay to Kafka / Kafka's own producer",
        report.find(OutboxToKafka.RELAY, 1),
        report.find(OutboxToKafka.PRODUCER, 1),
        0.5);
    report.atMost(
        "p50 of a small transaction that appends at commit / that does not",
        report.find(SMALL_WITH, 1).p50Ms(),
        report.find(SMALL, 1).p50Ms(),
        1.25);
    latencyAims("counting sink", report.find(LATENCY, CommitToPublish.WRITERS));
    latencyAims("Kafka", report.find(OutboxToKafka.LATENCY, CommitToPublish.WRITERS));
    report.atLeast(
        "one hot key in order / 5,000 a second", report.find(HOT, 1).perSecond(), 5_000, 1);
    report.atLeast(
        "relay with 10 million events behind it / without", report.find(BEHIND, 1), relay, 0.9);
  }

  private void latencyAims(String to, Measured latency) {
    report.atMost(
        "commit to publish, %s, 1,000 events/s: p50 / 10 ms".formatted(to), latency.p50Ms(), 10, 1);
    report.atMost(
        "commit to publish, %s, 1,000 events/s: p99 / 50 ms".formatted(to), latency.p99Ms(), 50, 1);
  }

  private void smallTransactions() throws Exception {
    database.execute(
        """
        CREATE TABLE bench_portfolio (id int PRIMARY KEY, trades bigint NOT NULL)
          WITH (fillfactor = 50);
        INSERT INTO bench_portfolio SELECT n, 0 FROM generate_series(0, 999) n;
        CREATE TABLE bench_trade (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          portfolio int NOT NULL, detail text NOT NULL)""");
    String stream = relaying.define();
    relaying.settle();
    List<Measured> results =
        InTurns.run(
            run.seconds(),
            new InTurns(SMALL, n -> transactor.run(c -> trade(c, n))),
            new InTurns(
                SMALL_WITH,
                n ->
                    transactor.run(
                        c -> {
                          trade(c, n);
                          outbox.appendAtCommit(event(stream, n));
                        })),
            new InTurns(
                SMALL_AT_ONCE,
                n ->
                    transactor.run(
                        c -> {
                          trade(c, n);
                          outbox.append(c, event(stream, n));
                        })));
    Report.requireBalance(
        SMALL,
        results.stream().mapToLong(Measured::acknowledged).sum(),
        database.number("SELECT sum(trades) FROM bench_portfolio"));
    Report.requireBalance(
        SMALL_WITH,
        results.get(1).acknowledged() + results.get(2).acknowledged(),
        database.number(
            """
            SELECT count(*) FROM lockstep.outbox_event e
              JOIN lockstep.outbox_stream s ON s.id = e.stream WHERE s.name = '%s'"""
                .formatted(stream)));
    results.forEach(report::add);
  }

  private static NewEvent event(String stream, long number) {
    return Trades.event(stream, number, Relaying.PORTFOLIOS);
  }

  private static void trade(Connection connection, long number) throws SQLException {
    int portfolio = (int) (number % Relaying.PORTFOLIOS);
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
    Contender plain =
        Contender.inBatches(
            PLAIN,
            Relaying.BATCH,
            n -> transactor.run(c -> insertPlain(c, n * Relaying.BATCH)),
            () -> database.number("SELECT count(*) FROM bench_plain"));
    run.measure(plain, 1, run.warmUpSeconds(true));
    database.execute("DROP TABLE bench_plain");
  }

  private static void insertPlain(Connection connection, long from) throws SQLException {
    String[] keys = new String[Relaying.BATCH];
    byte[][] data = new byte[Relaying.BATCH][];
    for (int i = 0; i < Relaying.BATCH; i++) {
      keys[i] = Trades.portfolio(from + i, Relaying.PORTFOLIOS);
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

  private String append(int count) {
    String stream = relaying.define();
    // A warm-up that is not measured.
    relaying.append(APPEND, relaying.define(), count / 10, Relaying.PORTFOLIOS);
    double appended = relaying.append(APPEND, stream, count, Relaying.PORTFOLIOS);
    report.add(Measured.rate(APPEND, appended, count));
    return stream;
  }

  private void toNobody(String backlog, int count) throws Exception {
    List<Measured> relayed = new ArrayList<>();
    for (int round = 1; round <= Relaying.ROUNDS; round++) {
      double perSecond = relaying.deliverAll(RELAY, backlog, count, null);
      relayed.add(Measured.rate(RELAY, perSecond, count));
    }
    report.add(Measured.median(relayed));
  }

  private void hotKey() throws Exception {
    Progress.say("%s", HOT);
    String stream = relaying.define();
    relaying.count(stream);
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
    Relay relay = relaying.start(relaying.config(), sink);
    try {
      writer.start();
      pause(MIN_WARM_UP_SECONDS);
      long before = sink.delivered();
      long startedNanos = System.nanoTime();
      pause(run.seconds());
      long delivered = sink.delivered() - before;
      double perSecond = delivered / ((System.nanoTime() - startedNanos) / 1e9);
      report.add(Measured.rate(HOT, perSecond, delivered));
      over.set(true);
      writer.join();
    } finally {
      over.set(true);
      relay.close();
      relaying.retire(stream);
    }
    sink.requireOrder(HOT);
  }

  private static void pause(double seconds) throws InterruptedException {
    TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
  }

  private void peer() throws Exception {
    Progress.say("%s", PEER);
    TransactionOutboxFlow.run(PEER, database, 500 * run.seconds());
    relaying.settle();
    int count = 2_000 * run.seconds();
    report.add(Measured.rate(PEER, TransactionOutboxFlow.run(PEER, database, count), count));
  }

  private void documents() throws Exception {
    Progress.say("the documents' query");
    DocumentRelay.Outcome outcome = DocumentRelay.run(database, DOCUMENT_EVENTS);
    String name =
        "the documents' query, 4 relays, %,d repeats of %,d events"
            .formatted(outcome.sentTwice(), DOCUMENT_EVENTS);
    report.add(Measured.rate(name, outcome.perSecond(), DOCUMENT_EVENTS));
  }

  /** A sink that begins behind ten million events of its stream. */
  private void behind(EventsBehind events, int count) throws Exception {
    events.fill();
    relaying.count(events.stream);
    relaying.append(BEHIND, events.stream, count, Relaying.PORTFOLIOS);
    report.add(Measured.rate(BEHIND, relaying.deliver(BEHIND, events.stream, count, null), count));
  }
}
