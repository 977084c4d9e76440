package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.CommitFault.Moment;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxAttempt;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The combiner on a real database: nothing lost, nothing doubled, nobody answered wrongly. */
class CombinedTransactionsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final CombinerConfig CONFIG = CombinerConfig.named("tickets");

  private final List<TxAttempt> attempts = new CopyOnWriteArrayList<>();

  @BeforeEach
  void createTables() {
    Tickets.createTables(database);
  }

  @Test
  void fiveHundredCallersTakeFiveHundredNumbers() throws InterruptedException {
    List<Long> numbers;
    try (Combiner<Integer, String, Long> tickets = tickets(database.dataSource())) {
      numbers = Race.<Long>of(500).run(i -> tickets.call(1, "caller-" + i)).valuesOrThrow();
    }

    assertThat(numbers).containsExactlyInAnyOrderElementsOf(oneTo(500));
    assertThat(issued()).isEqualTo(oneTo(500));
    assertThat(database.queryLong("SELECT value FROM counter WHERE id = 1")).isEqualTo(500);
  }

  @Test
  void whatIsSubmittedDuringOneCommitSharesTheNext() throws SQLException {
    try (Connection holder = lockCounter();
        Combiner<Integer, String, Long> tickets = tickets(database.dataSource())) {
      CompletionStage<Long> first = tickets.submit(1, "first");
      Await.blocked(database, 1);
      List<CompletionStage<Long>> others =
          IntStream.range(0, 100).mapToObj(i -> tickets.submit(1, "caller-" + i)).toList();
      holder.rollback();

      assertThat(Answers.of(first)).isEqualTo(1);
      assertThat(others.stream().map(Answers::of).toList())
          .as("in the order they came")
          .isEqualTo(LongStream.rangeClosed(2, 101).boxed().toList());
    }
    assertThat(attempts).as("two transactions").hasSize(2);
  }

  @Test
  void aRequestThatViolatesAConstraintFailsAlone() throws SQLException {
    database.execute("INSERT INTO ticket VALUES ('greedy', 2, 1)");
    try (Connection holder = lockCounter();
        Combiner<Integer, String, Long> tickets = tickets(database.dataSource())) {
      CompletionStage<Long> first = tickets.submit(1, "first");
      Await.blocked(database, 1);
      CompletionStage<Long> before = tickets.submit(1, "before");
      CompletionStage<Long> greedy = tickets.submit(1, "greedy");
      CompletionStage<Long> after = tickets.submit(1, "after");
      holder.rollback();

      assertThat(Answers.of(first)).isEqualTo(1);
      assertThat(Answers.of(before)).isEqualTo(2);
      assertThat(Answers.faultOf(greedy)).isInstanceOf(ConstraintViolated.class);
      assertThat(Answers.of(after)).isEqualTo(3);
    }
    assertThat(issued()).isEqualTo(oneTo(3));
  }

  @ParameterizedTest
  @EnumSource
  void aCommitCutAtAnyMomentLosesNothingAndDoublesNothing(Moment moment)
      throws InterruptedException {
    try (CommitFault fault = CommitFault.on(database);
        Combiner<Integer, String, Long> tickets = tickets(fault.dataSource())) {
      fault.arm(moment);

      List<Long> numbers =
          Race.<Long>of(100).run(i -> tickets.call(1, "caller-" + i)).valuesOrThrow();

      assertThat(fault.fired()).isTrue();
      assertThat(numbers).containsExactlyInAnyOrderElementsOf(oneTo(100));
      assertThat(issued()).isEqualTo(oneTo(100));
    }
    assertThat(attempts.stream().filter(a -> a.outcome() == TxOutcome.FOUND_COMMITTED))
        .hasSize(moment == Moment.AFTER_COMMIT ? 1 : 0);
  }

  @Test
  void aCommitCutOnABatchThatWroteNothingIsAnsweredToo() {
    try (CommitFault fault = CommitFault.on(database);
        Combiner<Integer, String, Long> tickets = tickets(fault.dataSource())) {
      fault.arm(Moment.AFTER_COMMIT);

      assertThat(tickets.call(1, "anyone?")).isEqualTo(1);
      assertThat(fault.fired()).isTrue();
    }
  }

  @Test
  void anOperationThatFailsAtItsAnswersHasNotHappened() {
    Transactor transactor = new Transactor(database.dataSource());
    Combined<Integer, String, Long, Tickets.Plan, Long> speechless =
        new Tickets() {
          @Override
          public List<AttemptResult<Long>> answers(Tickets.Plan plan) {
            throw new IllegalStateException("speechless");
          }
        };

    try (Combiner<Integer, String, Long> tickets = Combiner.on(transactor, speechless, CONFIG)) {
      assertThatThrownBy(() -> tickets.call(1, "caller")).hasMessage("speechless");
    }

    assertThat(issued()).isEmpty();
  }

  @Test
  void anOperationThatAnswersTooFewHasNotHappened() {
    Transactor transactor = new Transactor(database.dataSource());
    Combined<Integer, String, Long, Tickets.Plan, Long> forgetful =
        new Tickets() {
          @Override
          public List<AttemptResult<Long>> answers(Tickets.Plan plan) {
            return List.of();
          }
        };

    try (Combiner<Integer, String, Long> tickets = Combiner.on(transactor, forgetful, CONFIG)) {
      assertThatThrownBy(() -> tickets.call(1, "caller"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("0 answers to 1 requests");
    }

    assertThat(issued()).isEmpty();
  }

  @Test
  void aLookThatFailsAfterACutCommitIsUnknownAndNotRunAgain() {
    Combined<Integer, String, Long, Tickets.Plan, Long> blind =
        new Tickets() {
          @Override
          public Trace trace(Integer counter, Tickets.Plan plan) {
            return new Trace.OwnRows(
                connection -> {
                  throw new IllegalStateException("blind");
                });
          }
        };

    try (CommitFault fault = CommitFault.on(database);
        Combiner<Integer, String, Long> tickets =
            Combiner.on(new Transactor(fault.dataSource()), blind, CONFIG)) {
      fault.arm(Moment.AFTER_COMMIT);

      assertThatThrownBy(() -> tickets.call(1, "caller")).isInstanceOf(OutcomeUnknown.class);
    }

    assertThat(issued()).isEqualTo(oneTo(1));
  }

  @Test
  void aCallInsideATransactionIsNoPartOfIt() {
    Transactor transactor = new Transactor(database.dataSource());
    try (Combiner<Integer, String, Long> tickets = Combiner.on(transactor, new Tickets(), CONFIG)) {
      assertThatThrownBy(
              () ->
                  transactor.run(
                      connection -> {
                        assertThat(transactor.inTransaction()).isTrue();
                        assertThat(tickets.call(1, "caller")).isEqualTo(1);
                        throw new IllegalArgumentException("changed my mind");
                      }))
          .hasMessage("changed my mind");
    }

    assertThat(transactor.inTransaction()).isFalse();
    assertThat(issued()).as("committed by the combiner").isEqualTo(oneTo(1));
  }

  @Test
  void theSameOperationRunsOnACallersConnectionAndTheCallerCommits() throws SQLException {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      List<Long> numbers = Combiner.apply(connection, new Tickets(), 1, List.of("a", "b"));
      assertThat(numbers).isEqualTo(oneTo(2));
      connection.rollback();
      assertThat(issued()).isEmpty();

      Combiner.apply(connection, new Tickets(), 1, List.of("a"));
      connection.commit();
    }
    assertThat(issued()).isEqualTo(oneTo(1));
  }

  private Combiner<Integer, String, Long> tickets(DataSource dataSource) {
    Transactor transactor = new Transactor(dataSource, TxOptions.DEFAULT, attempts::add);
    return Combiner.on(transactor, new Tickets(), CONFIG);
  }

  private static Connection lockCounter() throws SQLException {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    Sql.execute(connection, "SELECT value FROM counter WHERE id = 1 FOR UPDATE");
    return connection;
  }

  private static List<Long> issued() {
    return database.query(
        "SELECT number FROM ticket WHERE counter = 1 ORDER BY number", row -> row.getLong(1));
  }

  private static List<Long> oneTo(int last) {
    return LongStream.rangeClosed(1, last).boxed().toList();
  }
}
