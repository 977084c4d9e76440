package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.fault.LockstepException;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.CallResult;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.ExchangeWork;
import dev.lockstep.sql.GuardFailed;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExchangeTest {
  private static final String INSERT = "INSERT INTO noted VALUES (?)";
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private final List<String> crossings = new ArrayList<>();
  private final Transactor transactor =
      new Transactor(Tampered.noting(database.dataSource(), crossings));

  @BeforeEach
  void anEmptyTable() {
    database.execute(
        "DROP TABLE IF EXISTS noted; CREATE TABLE noted (n int PRIMARY KEY CHECK (n >= 0))");
  }

  @Test
  void aTransactionThatReadsOnceAndWritesOnceCrossesTheNetworkTwice() {
    String isolation =
        exchange(
            exchange -> {
              RoundTrip first = exchange.trip();
              Rows<String> shown = first.query("SHOW lock_timeout", row -> row.getString(1));
              first.send();
              RoundTrip second = exchange.trip();
              second.update(INSERT, 1);
              exchange.defer(second);
              return shown.list().get(0);
            });

    assertThat(isolation).isNotEqualTo("0");
    assertThat(noted()).containsExactly(1);
    // The settings are in the first and COMMIT is in the second, which is the only one that ends.
    assertThat(crossings).containsExactly("prepareStatement", "prepareStatement", "commit");
  }

  /** A column that is not there, and a number that is too large. */
  @ParameterizedTest
  @ValueSource(strings = {"n", "3000000000 AS missing"})
  void rowsThatCannotBeReadAfterCommitAreNotToldAsAFailureOfTheStatement(String column) {
    assertThatThrownBy(
            () ->
                exchange(
                    exchange -> {
                      RoundTrip trip = exchange.trip();
                      trip.query(INSERT + " RETURNING " + column, r -> r.getInt("missing"), 1);
                      exchange.defer(trip);
                      return "done";
                    }))
        .isInstanceOf(OutcomeUnknown.class)
        .hasMessageContaining("committed");

    assertThat(noted()).containsExactly(1);
  }

  @Test
  void whatWasPutOffCrossesTheNetworkTogetherWithTheNextTrip() {
    long seen =
        exchange(
            exchange -> {
              RoundTrip first = exchange.trip();
              first.update(INSERT, 1);
              exchange.defer(first);
              RoundTrip second = exchange.trip();
              second.update(INSERT, 2);
              exchange.defer(second);
              RoundTrip third = exchange.trip();
              Rows<Long> count = third.query("SELECT count(*) FROM noted", row -> row.getLong(1));
              third.send();
              RoundTrip last = exchange.trip();
              last.update(INSERT, 3);
              exchange.defer(last);
              return count.list().get(0);
            });

    assertThat(seen).isEqualTo(2);
    assertThat(noted()).containsExactly(1, 2, 3);
    assertThat(crossings).containsExactly("prepareStatement", "prepareStatement", "commit");
  }

  @Test
  void whatIsPutOffFailsAsItSaidWhoeverItIsSentWith() {
    List<Integer> attempts = new ArrayList<>();

    exchange(
        exchange -> {
          attempts.add(attempts.size() + 1);
          RoundTrip guarded = exchange.trip();
          guarded.guarded(
              ExchangeTest::notAsSeen, trip -> trip.update(INSERT, attempts.size() == 1 ? -1 : 7));
          exchange.defer(guarded);
          RoundTrip other = exchange.trip();
          other.update(INSERT, 8);
          other.send();
          return "decided";
        });

    assertThat(attempts).containsExactly(1, 2);
    assertThat(noted()).containsExactly(7, 8);
  }

  @Test
  void aGuardThatFailsInTheLastTripCommitsNothing() {
    assertThatThrownBy(
            () ->
                exchange(
                    exchange -> {
                      RoundTrip trip = exchange.trip();
                      trip.update(INSERT, 1);
                      trip.update(INSERT, -1);
                      trip.update(INSERT, 2);
                      exchange.defer(trip);
                      return "decided";
                    }))
        .isInstanceOf(ConstraintViolated.class);

    assertThat(noted()).isEmpty();
  }

  @Test
  void aTripThatSaysWhatItsFailureMeansIsTriedAgainAsThat() {
    List<Integer> attempts = new ArrayList<>();

    exchange(
        exchange -> {
          attempts.add(attempts.size() + 1);
          RoundTrip trip = exchange.trip();
          trip.guarded(
              ExchangeTest::notAsSeen,
              guard -> guard.update(INSERT, attempts.size() == 1 ? -1 : 7));
          exchange.defer(trip);
          return "decided";
        });

    assertThat(attempts).containsExactly(1, 2);
    assertThat(noted()).containsExactly(7);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsRefusedBesideAGuardIsNotTakenForTheGuard(boolean guardFirst) {
    List<Integer> attempts = new ArrayList<>();

    assertThatThrownBy(
            () ->
                exchange(
                    exchange -> {
                      attempts.add(attempts.size() + 1);
                      RoundTrip trip = exchange.trip();
                      if (guardFirst) {
                        trip.guarded(ExchangeTest::notAsSeen, guard -> guard.update(INSERT, 7));
                      }
                      trip.update(INSERT, -1);
                      if (!guardFirst) {
                        trip.guarded(ExchangeTest::notAsSeen, guard -> guard.update(INSERT, 7));
                      }
                      exchange.defer(trip);
                      return "decided";
                    }))
        .isInstanceOf(ConstraintViolated.class);

    assertThat(attempts).as("together, and apart").containsExactly(1, 2);
    assertThat(noted()).isEmpty();
  }

  @Test
  void whatOnlyCommitRefusesIsNotTakenForAGuardForLong() {
    database.execute(
        "CREATE TABLE IF NOT EXISTS later (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
    List<Integer> attempts = new ArrayList<>();

    assertThatThrownBy(
            () ->
                exchange(
                    exchange -> {
                      attempts.add(attempts.size() + 1);
                      RoundTrip trip = exchange.trip();
                      trip.guarded(
                          ExchangeTest::notAsSeen,
                          guard -> guard.update("INSERT INTO later VALUES (1), (1)"));
                      exchange.defer(trip);
                      return "decided";
                    }))
        .isInstanceOf(ConstraintViolated.class);

    assertThat(attempts).hasSize(3);
  }

  /** Without an exchange nothing is tried again, so a mixed trip is never sent as one. */
  @Test
  void aTripOfTheCallersTellsAGuardFromWhatIsRefusedBesideIt() throws SQLException {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      RoundTrip refused = new RoundTrip(connection);
      refused.guarded(ExchangeTest::notAsSeen, guard -> guard.update(INSERT, 1));
      Rows<Long> seen = refused.query("SELECT count(*) FROM noted", row -> row.getLong(1));
      refused.update(INSERT, -1);
      assertThatThrownBy(refused::send)
          .isInstanceOfSatisfying(
              SQLException.class, e -> assertThat(SqlFault.of(e)).isEqualTo(SqlFault.CONSTRAINT));
      assertThat(seen.list()).isEmpty();
      connection.rollback();

      RoundTrip guard = new RoundTrip(connection);
      guard.update(INSERT, 1);
      guard.guarded(ExchangeTest::notAsSeen, failing -> failing.update(INSERT, -1));
      assertThatThrownBy(guard::send)
          .isInstanceOfSatisfying(
              SQLException.class,
              e -> assertThat(SqlFault.of(e)).isEqualTo(SqlFault.SERIALIZATION));
      connection.rollback();
    }
  }

  @Test
  void whatWasPutOffIsSentBeforeWhatFollows() {
    long seen =
        exchange(
            exchange -> {
              RoundTrip trip = exchange.trip();
              trip.update(INSERT, 1);
              exchange.defer(trip);
              return Sql.query(exchange.connection(), "SELECT count(*) FROM noted");
            });

    assertThat(seen).isEqualTo(1);
    assertThat(noted()).containsExactly(1);
  }

  @Test
  void anErrorThatTheWorkSwallowedIsNotCommittedOver() {
    assertThatThrownBy(
            () ->
                exchange(
                    exchange -> {
                      Connection connection = exchange.connection();
                      assertThatThrownBy(() -> Sql.execute(connection, INSERT, -1))
                          .isInstanceOf(SQLException.class);
                      RoundTrip trip = exchange.trip();
                      trip.update(INSERT, 1);
                      exchange.defer(trip);
                      return "decided";
                    }))
        .isInstanceOf(LockstepException.class);

    assertThat(noted()).isEmpty();
  }

  @Test
  void onTheCallersConnectionNothingWaitsForACommitThatIsNotOurs() throws SQLException {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      Exchange exchange = Exchange.within(connection);
      RoundTrip trip = exchange.trip();
      trip.update(INSERT, 1);
      exchange.defer(trip);

      assertThat(Sql.query(connection, "SELECT count(*) FROM noted")).isEqualTo(1);
      connection.rollback();
    }
    assertThat(noted()).isEmpty();
  }

  @Test
  void aStatementThatStandsAloneIsTheWholeTransaction() {
    exchange(
        exchange -> {
          exchange.loneStatement().update(INSERT, 1);
          return "decided";
        });

    assertThat(noted()).containsExactly(1);
    assertThat(crossings).as("neither settings nor COMMIT").containsExactly("prepareStatement");
  }

  @Test
  void aStatementThatStandsAloneAndFailsLeavesTheConnectionAsItWas() throws SQLException {
    try (Connection connection = database.connection()) {
      Transactor onOne = new Transactor(Tampered.single(database.dataSource(), connection));
      assertThatThrownBy(
              () ->
                  onOne.exchange(
                      TxOptions.DEFAULT,
                      exchange -> {
                        exchange.loneStatement().update(INSERT, -1);
                        return AttemptResult.conditional(List.of("decided"));
                      },
                      c -> Optional.empty()))
          .isInstanceOf(ConstraintViolated.class);

      assertThat(connection.isClosed()).isFalse();
      assertThat(connection.getAutoCommit()).isTrue();
      onOne.run(c -> Sql.execute(c, INSERT, 2));
    }
    assertThat(noted()).containsExactly(2);
  }

  @Test
  void whatFollowsAStatementThatWasToStandAloneIsInOneTransactionWithIt() {
    assertThatThrownBy(
            () ->
                exchange(
                    exchange -> {
                      exchange.loneStatement().update(INSERT, 1);
                      Sql.execute(exchange.connection(), INSERT, -1);
                      return "decided";
                    }))
        .isInstanceOf(ConstraintViolated.class);
    assertThat(noted()).isEmpty();
    assertThatThrownBy(
            () ->
                exchange(
                    exchange -> {
                      exchange.trip().send();
                      return exchange.loneStatement();
                    }))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void workThatSaysNothingStillEnds() {
    String answer = exchange(exchange -> "nothing");

    assertThat(answer).isEqualTo("nothing");
  }

  private <T> T exchange(ExchangeWork<T> work) {
    List<CallResult<T>> told =
        transactor.exchange(
            TxOptions.DEFAULT,
            exchange -> AttemptResult.conditional(List.of(work.run(exchange))),
            connection -> Optional.empty());
    return ((CallResult.Answer<T>) told.get(0)).answer();
  }

  private List<Integer> noted() {
    return database.query("SELECT n FROM noted ORDER BY n", row -> row.getInt(1));
  }

  private static SQLException notAsSeen(SQLException thrown) {
    return GuardFailed.orConflict(thrown, "not as seen");
  }
}
