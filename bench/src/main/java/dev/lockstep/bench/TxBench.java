package dev.lockstep.bench;

import dev.lockstep.combine.Combined;
import dev.lockstep.combine.Combiner;
import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.combine.Trace;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/** Increments of one hot row: one transaction each, and combined. */
final class TxBench implements Benchmark {
  private static final String ONE_EACH = "one transaction each";
  private static final String COMBINED = "combined";
  private static final String CEILING = "ceiling: bulk SQL, one writer";
  private static final int[] CALLERS = {1, 50, 500};
  private static final int CEILING_BATCH = 500;

  private static final String INCREMENT = "UPDATE bench_counter SET n = n + ? WHERE id = ?";

  private final BenchRun run;
  private final Transactor transactor;
  private final Combiner<Integer, Integer, Long> combiner;
  private int lastCounter;

  private TxBench(BenchRun run) {
    this.run = run;
    this.transactor = new Transactor(run.database().pool());
    this.combiner = Combiner.on(transactor, new Increments(), CombinerConfig.named("bench"));
  }

  static TxBench open(BenchRun run) throws SQLException {
    run.database()
        .execute(
            "CREATE TABLE bench_counter (id int PRIMARY KEY, n bigint NOT NULL) WITH (fillfactor = 20)");
    return new TxBench(run);
  }

  @Override
  public void measure() throws Exception {
    double warmUp = run.warmUpSeconds(true);
    for (int callers : CALLERS) {
      List<Contender> both = List.of(oneEach(), combined());
      if (callers == 1) {
        run.alone(both);
      } else {
        for (Contender contender : both) {
          run.measure(contender, callers, warmUp);
        }
      }
    }
    run.measure(ceiling(), 1, warmUp);
  }

  @Override
  public void aims() {
    Report report = run.report();
    report.atLeast(
        "combined / one transaction each, 500 callers",
        report.find(COMBINED, 500),
        report.find(ONE_EACH, 500),
        20);
    report.atMost(
        "p50 latency combined / one transaction each, 1 caller",
        report.find(COMBINED, 1).p50Ms(),
        report.find(ONE_EACH, 1).p50Ms(),
        1.3);
  }

  @Override
  public void close() {
    combiner.close();
  }

  private Contender oneEach() throws SQLException {
    int id = counter();
    return Contender.of(
        ONE_EACH, n -> transactor.run(c -> increment(c, id, 1)), () -> increments(id));
  }

  private Contender combined() throws SQLException {
    int id = counter();
    return Contender.of(COMBINED, n -> combiner.call(id, 1), () -> increments(id));
  }

  private Contender ceiling() throws SQLException {
    int id = counter();
    return Contender.inBatches(
        CEILING,
        CEILING_BATCH,
        n -> transactor.run(c -> increment(c, id, CEILING_BATCH)),
        () -> increments(id));
  }

  /** Creates a counter; returns its id. */
  private int counter() throws SQLException {
    int id = ++lastCounter;
    run.database().execute("INSERT INTO bench_counter VALUES (" + id + ", 0)");
    return id;
  }

  private long increments(int id) throws SQLException {
    return run.database().number("SELECT n FROM bench_counter WHERE id = " + id);
  }

  private static void increment(Connection connection, int id, long by) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(INCREMENT)) {
      statement.setLong(1, by);
      statement.setInt(2, id);
      statement.executeUpdate();
    }
  }

  /**
   * The smallest combined operation: read the counter, add up, write it; each caller gets its
   * value.
   */
  private static final class Increments
      implements Combined<Integer, Integer, Long, List<Long>, Long> {
    private static final String LOCK = "SELECT n FROM bench_counter WHERE id = ? FOR UPDATE";
    private static final String WRITE = "UPDATE bench_counter SET n = ? WHERE id = ?";

    @Override
    public Long lock(Exchange exchange, Integer id, List<Integer> requests) throws SQLException {
      RoundTrip trip = exchange.trip();
      Rows<Long> counter = trip.query(LOCK, row -> row.getLong(1), id);
      trip.send();
      return counter.list().get(0);
    }

    @Override
    public List<Long> decide(Integer id, Long counter, List<Integer> requests) {
      Long[] values = new Long[requests.size()];
      long next = counter;
      for (int i = 0; i < values.length; i++) {
        next += requests.get(i);
        values[i] = next;
      }
      return List.of(values);
    }

    @Override
    public List<Long> write(Exchange exchange, Integer id, List<Long> values) throws SQLException {
      RoundTrip trip = exchange.trip();
      trip.update(WRITE, values.get(values.size() - 1), id);
      exchange.defer(trip);
      return values;
    }

    @Override
    public List<AttemptResult<Long>> answers(List<Long> values) {
      return AttemptResult.conditional(values);
    }

    /** The counter only grows, and only this plan can have brought it to its last value. */
    @Override
    public Trace trace(Integer id, List<Long> values) {
      long last = values.get(values.size() - 1);
      return new Trace.OwnRows(
          connection -> lock(Exchange.within(connection), id, List.of()) >= last);
    }
  }
}
