package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.LockstepException;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOutcome.Done;
import dev.lockstep.ledger.LedgerOutcome.InsufficientFunds;
import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.RaceResult;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * G9: whatever crashes, the sum of all balances stays the same, no account is below its floor, and
 * every account is what its entries say.
 */
class MoneyIsConservedTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.ownServer(true);
  @RegisterExtension final Bank bank = new Bank(database);

  private static final int CALLERS = 64;
  private static final int ACCOUNTS = 10;
  private static final long EACH = 1_000;
  private static final int ENOUGH_BEFORE_A_CRASH = 300;

  private final Queue<TransferId> told = new ConcurrentLinkedQueue<>();
  private final Queue<TransferId> doubtful = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean lacked = new AtomicBoolean();
  private final CountDownLatch wellUnderWay = new CountDownLatch(ENOUGH_BEFORE_A_CRASH);

  @Test
  void whenAProcessIsKilledAndTheDatabaseStopsAsInAPowerCut() throws Exception {
    AccountId world = bank.world();
    List<AccountId> accounts = new ArrayList<>();
    for (int i = 0; i < ACCOUNTS; i++) {
      accounts.add(bank.with(world, EACH));
    }
    List<Ledger> nodes = List.of(bank.node(), bank.anotherNode());
    AtomicBoolean over = new AtomicBoolean();
    try (ChildJvm child = TransferringProcess.start(database, bank.book())) {
      Background<Boolean> crashes = Background.start(() -> crash(child, over));
      Race.<Integer>of(CALLERS)
          .within(Duration.ofMinutes(2))
          .run(i -> moveUntil(over, nodes.get(i % 2), Door.of(i / 2), accounts, i))
          .valuesOrThrow();
      crashes.result();
      told.addAll(TransferringProcess.told(child));
    }

    Set<TransferId> there = transfers();
    assertThat(told).doesNotHaveDuplicates().hasSizeGreaterThan(ENOUGH_BEFORE_A_CRASH);
    assertThat(there).as("what anybody was told").containsAll(told);
    assertThat(lacked).as("somebody was refused for lack of money").isTrue();
    assertThat(bank.balance(world)).isEqualTo(-ACCOUNTS * EACH);
    assertThat(accounts.stream().mapToLong(bank::balance).sum()).isEqualTo(ACCOUNTS * EACH);
    assertThat(accounts).allMatch(account -> bank.balance(account) >= 0);
    bank.checkBooks();
  }

  /** First the process, then the database; and then some time without either. */
  private boolean crash(ChildJvm child, AtomicBoolean over) throws InterruptedException {
    try {
      TransferringProcess.awaitTransfers(child, 50);
      child.kill();
      assertThat(wellUnderWay.await(60, TimeUnit.SECONDS)).isTrue();
      database.server().crash();
      database.server().restart();
      int before = told.size();
      Await.until("money moves again", () -> told.size() > before + 100);
      return true;
    } finally {
      over.set(true);
    }
  }

  private int moveUntil(
      AtomicBoolean over, Ledger node, Door door, List<AccountId> accounts, int caller) {
    SplittableRandom random = new SplittableRandom(caller);
    int moved = 0;
    while (!over.get()) {
      Move move = TransferringProcess.random(random, bank.book(), accounts);
      try {
        TransferResult result = bank.ask(door, node, move);
        if (result instanceof Done) {
          told.add(move.id());
          wellUnderWay.countDown();
          moved++;
        } else {
          assertThat(result).isInstanceOf(InsufficientFunds.class);
          lacked.set(true);
        }
      } catch (LockstepException e) {
        doubtful.add(move.id());
      }
    }
    return moved;
  }

  /** Both take from account 1, for 2 and for 3: the second forgets what the first took. */
  @Test
  void naiveReadThenWriteMakesMoneyOfNothing() throws Exception {
    NaiveBank naive = new NaiveBank(database, 3, 100);
    CyclicBarrier allHaveRead = new CyclicBarrier(2);

    Race.<Boolean>of(2)
        .run(i -> naive.readThenWrite("READ COMMITTED", 1, 2 + i, 10, allHaveRead))
        .valuesOrThrow();

    assertThat(naive.sum()).as("of 300").isEqualTo(310);
  }

  @Test
  void naiveReadThenWriteUnderSerializableIsAbortedAndLosesNothing() throws Exception {
    NaiveBank naive = new NaiveBank(database, 3, 100);
    CyclicBarrier allHaveRead = new CyclicBarrier(2);

    RaceResult<Boolean> result =
        Race.<Boolean>of(2)
            .run(i -> naive.readThenWrite("SERIALIZABLE", 1, 2 + i, 10, allHaveRead));

    assertThat(result.values()).containsExactly(true);
    assertThat(result.failures())
        .singleElement()
        .isInstanceOfSatisfying(
            SQLException.class, e -> assertThat(SqlFault.of(e)).isEqualTo(SqlFault.SERIALIZATION));
    assertThat(naive.sum()).isEqualTo(300);
  }

  private static Set<TransferId> transfers() {
    return new HashSet<>(
        database.query(
            "SELECT transfer::text FROM lockstep.transfer",
            row -> TransferId.of(row.getString(1))));
  }
}
