package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.hold.Companion.Accompanied;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.SoldOut;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Tampered;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a companion writes and what the commands do are one: both happen or neither does. */
class CompanionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final String PAY = "INSERT INTO payment (reference, hold) VALUES (?, ?)";

  private final Payments payments = new Payments();

  @BeforeEach
  void noPaymentYet() {
    database.execute(
        """
        DROP TABLE IF EXISTS payment;
        CREATE TABLE payment (
          reference text PRIMARY KEY CHECK (reference <> 'bad'), hold uuid UNIQUE);
        """);
  }

  @Test
  void itsRowsAreThereWhenTheCallerIsAnswered() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);

    AcquireResult result =
        Door.await(sale.node().submit(sale.acquire("buyer", Line.of(pool, 1)), payments, "p1"));

    assertThat(paidHolds()).containsExactly(((Granted) result).hold().id().toString());
  }

  @Test
  void allCommandsOfABatchComeToItInOneCall() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(30);

    List<AcquireResult> results = inOneBatch(sale, pool, payments, references(20));

    assertThat(Tally.of(results)).isEqualTo(Map.of("Granted", 20));
    assertThat(payments.calls).extracting(List::size).containsExactly(20);
    assertThat(paidHolds()).hasSize(20);
  }

  @Test
  void whatItPutsOffCostsNoCrossingOfTheNetwork() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);
    List<String> crossings = new CopyOnWriteArrayList<>();
    Companion<String> patient =
        (exchange, outcomes) -> {
          RoundTrip trip = exchange.trip();
          for (Accompanied<String> one : outcomes) {
            Granted granted = (Granted) one.outcome();
            trip.update(PAY, one.payload(), granted.hold().id().value());
          }
          exchange.defer(trip);
        };

    try (Holds node =
        new Holds(new Transactor(Tampered.noting(database.dataSource(), crossings)))) {
      Door.await(node.submit(sale.acquire("buyer", Line.of(pool, 1)), patient, "p1"));
    }

    assertThat(paidHolds()).hasSize(1);
    // What is read; and the stock, the payment and COMMIT.
    assertThat(crossings).containsExactly("prepareStatement", "prepareStatement", "commit");
  }

  @Test
  void refusalsAreShownToItAsWell() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(3);

    List<AcquireResult> results = inOneBatch(sale, pool, payments, references(5));

    // One of the three went to the caller who kept the queue busy.
    assertThat(Tally.of(results)).isEqualTo(Map.of("Granted", 2, "SoldOut", 3));
    assertThat(payments.calls).hasSize(1);
    assertThat(Tally.of(payments.calls.get(0))).isEqualTo(Tally.of(results));
    assertThat(paidHolds()).hasSize(2);
  }

  @Test
  void aPayloadThatCannotBeWrittenFailsItsOwnCommandOnly() throws Exception {
    Sale sale = fixture.saleWithLimit(1);
    PoolId pool = sale.units(30);
    List<String> references = new ArrayList<>(references(12));
    references.set(7, "bad");

    List<AcquireResult> results = inOneBatch(sale, pool, payments, references);

    assertThat(results).hasSize(11).hasOnlyElementsOfType(Granted.class);
    assertThat(payments.failures).hasOnlyElementsOfType(ConstraintViolated.class).hasSize(1);
    assertThat(paidHolds()).hasSize(11);
    assertThat(sale.counts(pool).held()).as("with the one that kept the queue busy").isEqualTo(12);
  }

  @Test
  void aCompanionThatThrowsFailsItsOwnCommandOnly() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(30);
    List<String> references = new ArrayList<>(references(12));
    references.set(3, "explosive");

    List<AcquireResult> results = inOneBatch(sale, pool, payments, references);

    assertThat(results).hasSize(11).hasOnlyElementsOfType(Granted.class);
    assertThat(payments.failures).singleElement().isInstanceOf(UnsupportedOperationException.class);
    assertThat(paidHolds()).hasSize(11);
  }

  @Test
  void anErrorThatTheCompanionSwallowsStillUndoesTheHold() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);
    Companion<String> careless =
        (exchange, outcomes) -> {
          try {
            payments.write(exchange, outcomes);
          } catch (SQLException ignored) {
            // As if nothing had happened.
          }
        };

    assertThatThrownBy(
            () ->
                Door.await(
                    sale.node().submit(sale.acquire("buyer", Line.of(pool, 1)), careless, "bad")))
        .isInstanceOf(RuntimeException.class);
    assertThat(sale.counts(pool).held()).isZero();
  }

  @Test
  void eachCompanionOfABatchSeesOnlyItsOwn() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(30);
    Payments other = new Payments();

    try (Busy busy = new Busy(database, sale, pool)) {
      var mine = sale.node().submit(sale.acquire("a", Line.of(pool, 1)), payments, "mine");
      var none = sale.node().submit(sale.acquire("b", Line.of(pool, 1)));
      var theirs = sale.node().submit(sale.acquire("c", Line.of(pool, 1)), other, "theirs");
      busy.end();
      Door.await(mine);
      Door.await(none);
      Door.await(theirs);
    }

    assertThat(payments.calls).extracting(List::size).containsExactly(1);
    assertThat(other.calls).extracting(List::size).containsExactly(1);
  }

  /** While expired holds are still being taken back there is no outcome that it could act upon. */
  @Test
  void itIsToldOnlyTheFinalOutcome() {
    Sale sale = fixture.sale(HoldsConfig.DEFAULT.withSweepBatch(1));
    PoolId pool = sale.counted(4);
    for (int i = 0; i < 4; i++) {
      Expire.now(database, sale.hold("gone-" + i, Line.of(pool, 1)));
    }

    AcquireResult granted =
        Door.await(sale.node().submit(sale.acquire("a", Line.of(pool, 4)), payments, "p1"));
    AcquireResult refused =
        Door.await(sale.node().submit(sale.acquire("b", Line.of(pool, 1)), payments, "p2"));

    assertThat(granted).isInstanceOf(Granted.class);
    assertThat(refused).isInstanceOf(SoldOut.class);
    assertThat(payments.calls).containsExactly(List.of(granted), List.of(refused));
  }

  @Test
  void onTheirOwnConnectionCallersWriteTheirRowsThemselves() throws SQLException {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(2);

    for (boolean commit : List.of(false, true)) {
      try (Connection connection = database.connection()) {
        connection.setAutoCommit(false);
        AcquireResult result = sale.node().run(connection, sale.acquire("buyer", Line.of(pool, 1)));
        Sql.execute(connection, PAY, "own", ((Granted) result).hold().id().value());
        if (commit) {
          connection.commit();
        } else {
          connection.rollback();
        }
      }
    }

    assertThat(paidHolds()).hasSize(1);
    assertThat(sale.counts(pool).held()).isEqualTo(1);
  }

  /** Submits all while the queue's writer is busy, so that they are decided together. */
  private static List<AcquireResult> inOneBatch(
      Sale sale, PoolId pool, Payments companion, List<String> references) throws Exception {
    List<CompletableFuture<AcquireResult>> asked = new ArrayList<>();
    try (Busy busy = new Busy(database, sale, pool)) {
      for (String reference : references) {
        asked.add(
            sale.node()
                .submit(sale.acquire(reference, Line.of(pool, 1)), companion, reference)
                .toCompletableFuture());
      }
      busy.end();
      List<AcquireResult> answers = new ArrayList<>();
      for (CompletableFuture<AcquireResult> one : asked) {
        try {
          answers.add(Door.await(one));
        } catch (RuntimeException e) {
          companion.failures.add(e);
        }
      }
      return answers;
    }
  }

  private static List<String> references(int count) {
    return IntStream.range(0, count).mapToObj(i -> "p" + i).toList();
  }

  /** The holds that payments are for, each of which must exist. */
  private static List<String> paidHolds() {
    List<String> holds =
        database.query(
            "SELECT coalesce(h.hold::text, 'none') FROM payment p"
                + " LEFT JOIN lockstep.hold h ON h.hold = p.hold",
            row -> row.getString(1));
    assertThat(holds).doesNotContain("none");
    return holds;
  }

  /** Writes a payment for each grant, and remembers what it was shown. */
  private static final class Payments implements Companion<String> {
    final List<List<HoldOutcome>> calls = new CopyOnWriteArrayList<>();
    final List<RuntimeException> failures = new CopyOnWriteArrayList<>();

    @Override
    public void write(Exchange exchange, List<Accompanied<String>> outcomes) throws SQLException {
      try (PreparedStatement insert = exchange.connection().prepareStatement(PAY)) {
        for (Accompanied<String> one : outcomes) {
          if (one.payload().equals("explosive")) {
            throw new UnsupportedOperationException(one.payload());
          }
          if (one.outcome() instanceof Granted granted) {
            insert.setString(1, one.payload());
            insert.setObject(2, granted.hold().id().value());
            insert.addBatch();
          }
        }
        insert.executeBatch();
      }
      calls.add(outcomes.stream().map(Accompanied::outcome).toList());
    }
  }
}
