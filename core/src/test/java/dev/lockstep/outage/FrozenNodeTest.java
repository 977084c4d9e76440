package dev.lockstep.outage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.fault.LockTimeout;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.NewPool;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.NewAccount;
import dev.lockstep.outage.FrozenNode.Doing;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A node is stopped (SIGSTOP) in the middle of a transaction, and stands still with its locks. The
 * others go on, and when it is let go, what it was doing is done again or refused, and not twice.
 */
class FrozenNodeTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private final Transactor transactor = new Transactor(database.dataSource());

  @BeforeAll
  static void whatAllWant() {
    makeWhatAllWant(new Transactor(database.dataSource()));
  }

  static void makeWhatAllWant(Transactor transactor) {
    try (Holds holds = new Holds(transactor);
        Ledger ledger = new Ledger(transactor)) {
      holds.createScope(FrozenNode.SCOPE, OptionalInt.empty());
      holds.createPools(FrozenNode.SCOPE, List.of(NewPool.counted(FrozenNode.POOL, 1_000_000)));
      ledger.openBook(FrozenNode.BOOK);
      ledger.openAccounts(
          FrozenNode.BOOK,
          List.of(
              new NewAccount(FrozenNode.FROM, "from", "JPY", OptionalLong.empty()),
              new NewAccount(FrozenNode.TO, "to", "JPY", OptionalLong.empty())));
    }
    new Outbox(transactor).define(FrozenNode.EVENT.stream(), List.of(), "test");
    transactor.run(
        c -> {
          Sql.execute(c, "CREATE TABLE item (id int PRIMARY KEY, n int)");
          Sql.execute(c, "INSERT INTO item VALUES (1, 0)");
        });
  }

  /** Their transactions are bounded below the lock timeout: nobody even hears of it. */
  @ParameterizedTest
  @EnumSource(names = {"HOLD", "TRANSFER"})
  void theOthersWaitForTheBatchOfAFrozenNodeAndGetTheirAnswers(Doing doing) throws Exception {
    try (ChildJvm frozen = frozen(doing)) {
      for (int i = 0; i < 5; i++) {
        assertThat(doing.perform(transactor, connection -> {}).toString())
            .containsAnyOf("Granted", "Done");
      }
      goesOn(frozen, doing);
    }
    assertThat(database.queryLong(count(doing))).as("each of them once").isEqualTo(6);
  }

  @ParameterizedTest
  @EnumSource(names = {"ONCE", "APPEND", "TRANSACTION"})
  void theOthersGetWhatAFrozenTransactionHasLocked(Doing doing) throws Exception {
    try (ChildJvm frozen = frozen(doing)) {
      AtomicReference<Object> done = new AtomicReference<>();
      Await.until("it is free", () -> attempt(doing, done));
      goesOn(frozen, doing);
    }
    assertThat(database.queryLong(count(doing))).isEqualTo(doing == Doing.ONCE ? 1 : 2);
  }

  private boolean attempt(Doing doing, AtomicReference<Object> done) {
    try {
      done.set(doing.perform(transactor, connection -> {}));
      return true;
    } catch (LockTimeout stillLocked) {
      return false;
    }
  }

  private static ChildJvm frozen(Doing doing) throws InterruptedException {
    ChildJvm node = FrozenNode.start(database, doing);
    node.awaitLine(FrozenNode.IN_THE_MIDDLE);
    node.pause();
    return node;
  }

  /** Its session is gone: it finds out, and does the whole again. */
  private static void goesOn(ChildJvm frozen, Doing doing) throws InterruptedException {
    frozen.send("go on");
    frozen.resume();
    String ended = frozen.awaitLine(line -> line.startsWith(FrozenNode.ENDED));
    assertThat(ended).doesNotContain("Exception", "Fault", "Unknown", "Unavailable");
    if (doing == Doing.ONCE) {
      assertThat(ended).as("what the other did under its key").contains("replayed=true");
    }
  }

  static String count(Doing doing) {
    return switch (doing) {
      case HOLD -> "SELECT held FROM lockstep.pool";
      case TRANSFER -> "SELECT balance FROM lockstep.account WHERE account = 2";
      case ONCE -> "SELECT count(*) FROM lockstep.once";
      case APPEND -> "SELECT count(*) FROM lockstep.outbox_event";
      case TRANSACTION -> "SELECT n FROM item";
    };
  }
}
