package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.sql.ClosingWork;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is left for the end of a transaction. */
class ClosingWorkTest {
  private static final String INSERT = "INSERT INTO noted VALUES (?)";

  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private final List<String> crossings = new ArrayList<>();
  private final Transactor transactor =
      new Transactor(Tampered.noting(database.dataSource(), crossings));
  private final List<List<Integer>> given = new ArrayList<>();
  private final ClosingWork<Integer> insertAll =
      (exchange, numbers) -> {
        given.add(numbers);
        RoundTrip trip = new RoundTrip(exchange.connection());
        numbers.forEach(n -> trip.update(INSERT, n));
        exchange.defer(trip);
      };

  @BeforeEach
  void anEmptyTable() {
    database.execute(
        "DROP TABLE IF EXISTS noted; CREATE TABLE noted (n int PRIMARY KEY CHECK (n >= 0))");
  }

  @Test
  void allThatWasLeftGoesWithCommitAfterEverythingElse() {
    long seen =
        transactor.call(
            connection -> {
              transactor.beforeCommit(insertAll, 2);
              transactor.run(joined -> transactor.beforeCommit(insertAll, 1));
              return Sql.query(connection, "SELECT count(*) FROM noted");
            });

    assertThat(seen).isZero();
    assertThat(given).containsExactly(List.of(2, 1));
    assertThat(noted()).containsExactly(1, 2);
    // Settings; the question; and one for the rest, which is the one that commits.
    assertThat(crossings)
        .containsExactly("prepareStatement", "prepareStatement", "prepareStatement", "commit");
  }

  @Test
  void whatFailsAtTheEndCommitsNothing() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    connection -> {
                      Sql.execute(connection, INSERT, 1);
                      transactor.beforeCommit(insertAll, -1);
                    }))
        .isInstanceOf(ConstraintViolated.class);

    assertThat(noted()).isEmpty();
  }

  @Test
  void anotherAttemptBeginsWithNothingLeft() {
    ClosingWork<Integer> failsOnce =
        (exchange, numbers) -> {
          insertAll.run(exchange, numbers);
          if (given.size() == 1) {
            throw SqlFault.conflict("the first time");
          }
        };

    transactor.run(connection -> transactor.beforeCommit(failsOnce, 7));

    assertThat(given).containsExactly(List.of(7), List.of(7));
    assertThat(noted()).containsExactly(7);
  }

  @Test
  void whatWasLeftInASavepointThatWasRolledBackIsForgotten() {
    transactor.run(
        connection -> {
          transactor.beforeCommit(insertAll, 1);
          assertThatIllegalStateException()
              .isThrownBy(
                  () ->
                      transactor.nested(
                          inner -> {
                            transactor.beforeCommit(insertAll, 2);
                            throw new IllegalStateException("on second thoughts");
                          }));
          transactor.beforeCommit(insertAll, 3);
        });

    assertThat(noted()).containsExactly(1, 3);
  }

  @Test
  void aDoomedTransactionDoesNotComeToItsEnd() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    connection -> {
                      transactor.beforeCommit(insertAll, 1);
                      assertThatIllegalStateException()
                          .isThrownBy(
                              () ->
                                  transactor.run(
                                      joined -> {
                                        throw new IllegalStateException("swallowed");
                                      }));
                    }))
        .isInstanceOf(TransactionDoomed.class);

    assertThat(given).isEmpty();
  }

  @Test
  void onTheCallersConnectionItIsDoneBeforeTheCallerGoesOn() throws SQLException {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      transactor.runJoined(connection, c -> transactor.beforeCommit(insertAll, 1));

      assertThat(Sql.query(connection, "SELECT count(*) FROM noted")).isEqualTo(1);
      connection.rollback();
    }
    assertThat(noted()).isEmpty();
  }

  @Test
  void outsideATransactionNothingCanBeLeft() {
    assertThatIllegalStateException().isThrownBy(() -> transactor.beforeCommit(insertAll, 1));
  }

  private List<Integer> noted() {
    return database.query("SELECT n FROM noted ORDER BY n", row -> row.getInt(1));
  }
}
