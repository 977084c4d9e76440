package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.fault.SerializationConflict;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOutcome.Done;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A companion's constraint and a guard of the books are told apart, though they share a trip. */
class TransferCompanionFaultTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Bank bank = new Bank(database);

  private static final int CALLERS = 10;

  private final TransferCompanion<String> notes =
      (exchange, outcomes) -> {
        RoundTrip trip = exchange.trip();
        outcomes.forEach(
            one ->
                trip.update(
                    "INSERT INTO note (text, kind) VALUES (?, ?)",
                    one.payload(),
                    kind(one.payload())));
        exchange.defer(trip);
      };

  @BeforeEach
  void noNotes() {
    database.execute(
        """
        DROP TABLE IF EXISTS note;
        DROP TABLE IF EXISTS kind;
        CREATE TABLE kind (kind text PRIMARY KEY);
        INSERT INTO kind VALUES ('known');
        CREATE TABLE note (text text CHECK (text <> 'refused'),
          kind text REFERENCES kind DEFERRABLE INITIALLY DEFERRED);
        """);
  }

  @ParameterizedTest
  @ValueSource(strings = {"refused", "refused at COMMIT"})
  void aPayloadThatAConstraintRefusesFailsItsOwnTransferOnly(String bad) throws Exception {
    List<RuntimeException> failures = inOneBatch(notes, bad);

    assertThat(failures).singleElement().isInstanceOf(ConstraintViolated.class);
    assertThat(database.queryLong("SELECT count(*) FROM note")).isEqualTo(CALLERS - 1);
    assertThat(bank.faults().stream().filter(SqlFault.SERIALIZATION::equals).count())
        .as("two for each of the halves it was in")
        .isLessThan(15);
  }

  /** Submits all while the queue's writer is busy, so that they are decided together. */
  private List<RuntimeException> inOneBatch(TransferCompanion<String> companion, String bad)
      throws Exception {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 0);

    List<CompletableFuture<? extends LedgerOutcome>> asked = new ArrayList<>();
    try (Connection busy = database.connection()) {
      busy.setAutoCommit(false);
      Sql.query(
          busy,
          "SELECT 1 FROM lockstep.account WHERE book = ? AND account = ? FOR UPDATE",
          bank.book().value(),
          to.value());
      var first = bank.node().submit(bank.move(world, to, 1)).toCompletableFuture();
      Await.blocked(database, 1);
      for (int i = 0; i < CALLERS; i++) {
        String payload = i == 4 ? bad : "n" + i;
        asked.add(
            bank.node().submit(bank.move(world, to, 1), companion, payload).toCompletableFuture());
      }
      busy.rollback();
      Door.await(first);
    }
    List<RuntimeException> failures = new ArrayList<>();
    for (var one : asked) {
      try {
        assertThat(Door.await(one)).isInstanceOf(Done.class);
      } catch (RuntimeException e) {
        failures.add(e);
      }
    }

    assertThat(bank.balance(to)).isEqualTo(1 + CALLERS - failures.size());
    return failures;
  }

  @Test
  void aPayloadThatConflictsEachTimeFailsItsOwnTransferOnly() throws Exception {
    TransferCompanion<String> conflicting =
        (exchange, outcomes) -> {
          if (outcomes.stream().anyMatch(one -> one.payload().equals("bad"))) {
            throw SqlFault.conflict("each time");
          }
        };

    List<RuntimeException> failures = inOneBatch(conflicting, "bad");

    assertThat(failures).singleElement().isInstanceOf(SerializationConflict.class);
  }

  /** Another transfer took the id, at another node, after this batch had looked for it. */
  @Test
  void aGuardOfTheBooksThatFailsInACompanionsTripIsStillDecidedAnew() {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 0);
    AccountId otherWorld = bank.world();
    AccountId elsewhere = bank.with(otherWorld, 0);
    Ledger otherNode = bank.anotherNode();
    Move move = bank.move(world, to, 7);
    Move faster = new Move(bank.book(), move.id(), otherWorld, elsewhere, move.money());
    AtomicInteger calls = new AtomicInteger();
    TransferCompanion<String> overtaken =
        (exchange, outcomes) -> {
          if (calls.getAndIncrement() == 0) {
            assertThat(Door.await(otherNode.submit(faster))).isInstanceOf(Done.class);
          }
          notes.write(exchange, outcomes);
        };

    assertThat(Door.await(bank.node().submit(move, overtaken, "noted")))
        .isNotInstanceOf(Done.class);
    assertThat(calls).as("decided, and decided anew").hasValue(2);
    assertThat(bank.balance(to)).isZero();
    assertThat(database.queryLong("SELECT count(*) FROM note")).isEqualTo(1);
  }

  private static String kind(String payload) {
    return payload.equals("refused at COMMIT") ? "unknown" : "known";
  }
}
