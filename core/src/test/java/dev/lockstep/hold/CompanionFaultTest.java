package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.fault.LockTimeout;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.fault.TransientFault;
import dev.lockstep.hold.Companion.Accompanied;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.LimitReached;
import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceEntry;
import dev.lockstep.once.OnceKey;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A companion's statements share a round trip with the stock's own, whose guards are constraints,
 * too. A payload that a constraint refuses must not be taken for a guard that found the stock
 * changed, nor the other way round.
 */
class CompanionFaultTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final int CALLERS = 10;
  private static final String PAY = "INSERT INTO payment (reference, paid_with) VALUES (?, ?)";

  @BeforeEach
  void noPaymentYet() {
    database.execute(
        """
        DROP TABLE IF EXISTS payment;
        DROP TABLE IF EXISTS card;
        CREATE TABLE card (number text PRIMARY KEY);
        INSERT INTO card VALUES ('good');
        CREATE TABLE payment (
          reference text PRIMARY KEY CHECK (reference <> 'refused'),
          paid_with text REFERENCES card DEFERRABLE INITIALLY DEFERRED);
        """);
  }

  /** How a companion gets its statements to the server. */
  private enum Sending implements Companion<String> {
    PUT_OFF_TO_COMMIT {
      @Override
      void send(Exchange exchange, RoundTrip trip) throws SQLException {
        exchange.defer(trip);
      }
    },
    IN_ONE_TRIP_WITH_THE_STOCK {
      @Override
      void send(Exchange exchange, RoundTrip trip) throws SQLException {
        trip.send();
      }
    },
    PUT_OFF_TO_ANOTHER_TRIP {
      @Override
      void send(Exchange exchange, RoundTrip trip) throws SQLException {
        exchange.defer(trip);
        RoundTrip next = exchange.trip();
        next.query("SELECT 1", row -> row.getInt(1));
        exchange.defer(next);
      }
    };

    abstract void send(Exchange exchange, RoundTrip trip) throws SQLException;

    @Override
    public void write(Exchange exchange, List<Accompanied<String>> outcomes) throws SQLException {
      RoundTrip trip = exchange.trip();
      for (Accompanied<String> one : outcomes) {
        trip.update(PAY, one.payload(), one.payload().equals("stolen") ? "stolen" : "good");
      }
      send(exchange, trip);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aPayloadThatAConstraintRefusesFailsItsOwnCommandOnly(Sending companion) throws Exception {
    Sale sale = fixture.saleWithLimit(1);
    PoolId pool = sale.counted(2 * CALLERS);

    Asked asked = inOneBatch(sale, pool, companion, "refused");

    assertThat(asked.granted).isEqualTo(CALLERS - 1);
    assertThat(asked.failures).singleElement().isInstanceOf(ConstraintViolated.class);
    assertThat(payments()).isEqualTo(CALLERS - 1);
    assertThat(conflicts(sale)).as("two for each of the halves it was in").isLessThan(10);
  }

  @ParameterizedTest
  @EnumSource
  void aPayloadThatIsRefusedOnlyAtCommitFailsItsOwnCommandOnly(Sending companion) throws Exception {
    Sale sale = fixture.saleWithLimit(1);
    PoolId pool = sale.counted(2 * CALLERS);

    Asked asked = inOneBatch(sale, pool, companion, "stolen");

    assertThat(asked.granted).isEqualTo(CALLERS - 1);
    assertThat(asked.failures).singleElement().isInstanceOf(ConstraintViolated.class);
    assertThat(payments()).isEqualTo(CALLERS - 1);
    assertThat(conflicts(sale)).isLessThan(15);
  }

  @Test
  void aCompanionThatWaitsForAnotherAnswerOfItsBlockIsRefused() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(2);
    Companion<String> asks =
        (exchange, outcomes) -> sale.node().call(sale.acquire("inner", Line.of(pool, 1)));

    var outer = sale.node().submit(sale.acquire("outer", Line.of(pool, 1)), asks, "p1");

    assertThatThrownBy(() -> outer.toCompletableFuture().get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(IllegalStateException.class)
        .hasMessageContaining("a batch waits for an answer that only a later batch can give");
    assertThat(sale.ask(sale.acquire("next", Line.of(pool, 2)))).isInstanceOf(Granted.class);
  }

  @Test
  void anInterruptThatACompanionLeavesBehindEndsNobodysRetries() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(2);
    CompletableFuture<Boolean> inside = new CompletableFuture<>();
    CompletableFuture<Boolean> queued = new CompletableFuture<>();
    Companion<String> interrupts =
        (exchange, outcomes) -> {
          inside.complete(true);
          queued.join();
          Thread.currentThread().interrupt();
        };
    AtomicInteger calls = new AtomicInteger();
    Companion<String> conflictsOnce =
        (exchange, outcomes) -> {
          if (calls.getAndIncrement() == 0) {
            throw SqlFault.conflict("as may happen at any time");
          }
        };

    var first = sale.node().submit(sale.acquire("a", Line.of(pool, 1)), interrupts, "p1");
    inside.join();
    var second = sale.node().submit(sale.acquire("b", Line.of(pool, 1)), conflictsOnce, "p2");
    queued.complete(true);

    assertThat(Door.await(first)).isInstanceOf(Granted.class);
    assertThat(Door.await(second)).isInstanceOf(Granted.class);
    assertThat(calls).hasValue(2);
  }

  @Test
  void anInterruptThatACompanionLeavesBehindEndsNoRetriesOfItsOwnBatch() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(2 * CALLERS);
    AtomicInteger calls = new AtomicInteger();
    Companion<String> companion =
        (exchange, outcomes) -> {
          Thread.currentThread().interrupt();
          if (calls.getAndIncrement() == 0) {
            throw SqlFault.conflict("as may happen at any time");
          }
        };

    assertThat(inOneBatch(sale, pool, companion, "p7").granted).isEqualTo(CALLERS);
    assertThat(calls).hasValue(2);
  }

  /** Another transaction is about to insert the same key and does not end. */
  @ParameterizedTest
  @EnumSource
  void aPayloadThatMeetsALockFailsItsOwnCommandOnly(Sending companion) throws Exception {
    Sale sale = fixture.saleWithLimit(1);
    PoolId pool = sale.counted(2 * CALLERS);
    Asked asked;
    try (Connection another = database.connection()) {
      another.setAutoCommit(false);
      Sql.execute(another, PAY, "taken", "good");

      asked = inOneBatch(sale, pool, companion, "taken");
    }

    assertThat(asked.failures).singleElement().isInstanceOf(LockTimeout.class);
    assertThat(asked.granted).isEqualTo(CALLERS - 1);
    assertThat(payments()).isEqualTo(CALLERS - 1);
  }

  /** Whatever the server says of its statement, each time, and however often it is tried. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT pg_sleep(30)",
        "DO $$ BEGIN RAISE EXCEPTION 'a conflict' USING ERRCODE = '40001'; END $$",
        "DO $$ BEGIN RAISE EXCEPTION 'a server behind it' USING ERRCODE = '08001'; END $$",
        "DO $$ BEGIN RAISE EXCEPTION 'its disk' USING ERRCODE = '53100'; END $$"
      })
  void aPayloadThatFailsEachTimeInAWayThatMayPassFailsAlone(String statement) throws Exception {
    Sale sale = fixture.sale(OptionalInt.empty(), HoldFixture.IMPATIENT);
    PoolId pool = sale.counted(2 * CALLERS);
    Companion<String> companion =
        (exchange, outcomes) -> {
          for (Accompanied<String> one : outcomes) {
            if (one.payload().equals("bad")) {
              Sql.execute(exchange.connection(), statement);
            }
          }
        };

    Asked asked = inOneBatch(sale, pool, companion, "bad");

    assertThat(asked.failures).singleElement().isInstanceOf(TransientFault.class);
    assertThat(asked.granted).isEqualTo(CALLERS - 1);
  }

  /** The guard of a buyer's quota fails in the very trip that the companion shares. */
  @ParameterizedTest
  @EnumSource
  void aGuardOfTheStockThatFailsInACompanionsTripIsStillDecidedAnew(Sending sending) {
    Sale sale = fixture.saleWithLimit(1);
    PoolId pool = sale.counted(5);
    PoolId other = sale.counted(5);
    Holds otherNode = sale.anotherNode();
    AtomicInteger calls = new AtomicInteger();
    Companion<String> overtaken =
        (exchange, outcomes) -> {
          if (calls.getAndIncrement() == 0) {
            Door.await(otherNode.submit(sale.acquire("buyer", Line.of(other, 1))));
          }
          sending.write(exchange, outcomes);
        };

    AcquireResult result =
        Door.await(sale.node().submit(sale.acquire("buyer", Line.of(pool, 1)), overtaken, "p1"));

    assertThat(result).isInstanceOf(LimitReached.class);
    assertThat(calls).as("decided, and decided anew").hasValue(2);
    assertThat(payments()).as("for the refusal, which it was told of").isEqualTo(1);
  }

  /** As the server does it: the key of the request and a row of its own in one trip. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aKeyRecordedInTheSameTripDoesNotMakeARefusedPayloadAConflict(boolean keyFirst)
      throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(2 * CALLERS);
    Once once = new Once(sale.transactor());
    Companion<String> keyed =
        (exchange, outcomes) -> {
          RoundTrip trip = exchange.trip();
          if (keyFirst) {
            once.addRecord(trip, sale.scope().value(), entries(sale, outcomes));
          }
          outcomes.forEach(one -> trip.update(PAY, one.payload(), "good"));
          if (!keyFirst) {
            once.addRecord(trip, sale.scope().value(), entries(sale, outcomes));
          }
          exchange.defer(trip);
        };

    Asked asked = inOneBatch(sale, pool, keyed, "refused");

    assertThat(asked.granted).isEqualTo(CALLERS - 1);
    assertThat(asked.failures).singleElement().isInstanceOf(ConstraintViolated.class);
    assertThat(payments()).isEqualTo(CALLERS - 1);
    assertThat(conflicts(sale)).isLessThan(10);
  }

  /** Another node recorded the key after this batch had looked for it. */
  @Test
  void aKeyThatAnotherUsedMeanwhileIsStillDecidedAnew() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(5);
    Once once = new Once(sale.transactor());
    AtomicInteger calls = new AtomicInteger();
    Companion<String> keyed =
        (exchange, outcomes) -> {
          List<OnceEntry> entries = entries(sale, outcomes);
          if (calls.getAndIncrement() == 0) {
            try (Connection another = database.connection()) {
              another.setAutoCommit(false);
              once.record(another, sale.scope().value(), entries);
              another.commit();
            }
          }
          RoundTrip trip = exchange.trip();
          outcomes.forEach(one -> trip.update(PAY, one.payload(), "good"));
          if (calls.get() == 1) {
            once.addRecord(trip, sale.scope().value(), entries);
          }
          exchange.defer(trip);
        };

    AcquireResult result =
        Door.await(sale.node().submit(sale.acquire("a", Line.of(pool, 1)), keyed, "p1"));

    assertThat(result).isInstanceOf(Granted.class);
    assertThat(calls).hasValue(2);
    assertThat(payments()).isEqualTo(1);
  }

  private static List<OnceEntry> entries(Sale sale, List<Accompanied<String>> outcomes) {
    return outcomes.stream()
        .map(
            one ->
                new OnceEntry(
                    new OnceKey(sale.scope().value(), "owner", one.payload()),
                    Fingerprint.of("POST", "/holds", one.payload()),
                    "answer"))
        .toList();
  }

  private record Asked(int granted, List<RuntimeException> failures) {}

  /** Submits all while the queue's writer is busy, so that they are decided together. */
  private static Asked inOneBatch(
      Sale sale, PoolId pool, Companion<String> companion, String badPayload) throws Exception {
    List<CompletableFuture<AcquireResult>> asked = new ArrayList<>();
    try (Connection busy = database.connection()) {
      busy.setAutoCommit(false);
      Sql.query(
          busy,
          "SELECT 1 FROM lockstep.pool WHERE scope = ? AND pool = ? FOR UPDATE",
          sale.scope().value(),
          pool.value());
      var first = sale.node().submit(sale.acquire("busy", Line.of(pool, 1))).toCompletableFuture();
      Await.blocked(database, 1);
      for (int i = 0; i < CALLERS; i++) {
        String payload = i == 7 ? badPayload : "p" + i;
        asked.add(
            sale.node()
                .submit(sale.acquire("buyer-" + i, Line.of(pool, 1)), companion, payload)
                .toCompletableFuture());
      }
      busy.rollback();
      Door.await(first);
    }
    int granted = 0;
    List<RuntimeException> failures = new ArrayList<>();
    for (CompletableFuture<AcquireResult> one : asked) {
      try {
        assertThat(Door.await(one)).isInstanceOf(Granted.class);
        granted++;
      } catch (RuntimeException e) {
        failures.add(e);
      }
    }
    return new Asked(granted, failures);
  }

  private static long payments() {
    return database.queryLong("SELECT count(*) FROM payment");
  }

  private static long conflicts(Sale sale) {
    return sale.faults().stream().filter(SqlFault.SERIALIZATION::equals).count();
  }
}
