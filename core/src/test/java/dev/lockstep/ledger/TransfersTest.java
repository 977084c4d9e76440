package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerOutcome.AllDone;
import dev.lockstep.ledger.LedgerOutcome.Done;
import dev.lockstep.ledger.LedgerOutcome.InsufficientFunds;
import dev.lockstep.ledger.LedgerOutcome.NotPending;
import dev.lockstep.ledger.LedgerOutcome.Refused;
import dev.lockstep.ledger.Transfer.State;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Transfers of every kind, on a database: in one piece, in two phases, linked. */
class TransfersTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Bank bank = new Bank(database);

  @Test
  void oppositeTransfersOfTwoNodesAndBothDoorsNeverDeadlock() throws Exception {
    AccountId world = bank.world();
    List<AccountId> pair = List.of(bank.with(world, 10_000), bank.with(world, 10_000));
    List<Ledger> nodes = List.of(bank.node(), bank.anotherNode());

    Race.<Boolean>of(32)
        .run(
            i -> {
              for (int n = 0; n < 10; n++) {
                Move move = bank.move(pair.get(i % 2), pair.get(1 - i % 2), 1 + i % 2);
                assertThat(bank.ask(Door.of(i / 2), nodes.get(i / 4 % 2), move))
                    .isInstanceOf(Done.class);
              }
              return true;
            })
        .valuesOrThrow();

    assertThat(bank.faults()).doesNotContain(SqlFault.DEADLOCK);
    assertThat(bank.balance(pair.get(0))).isEqualTo(10_000 + 160);
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void whenManyWantTheSameMoneyExactlySoManyGetIt(Door door) throws Exception {
    AccountId world = bank.world();
    AccountId from = bank.with(world, 100);
    AccountId credit = bank.open(OptionalLong.of(-50));

    List<TransferResult> results =
        Race.<TransferResult>of(64)
            .run(i -> bank.ask(door, bank.node(), bank.move(i % 2 == 0 ? from : credit, world, 10)))
            .valuesOrThrow();

    assertThat(results).filteredOn(Done.class::isInstance).hasSize(10 + 5);
    assertThat(results)
        .filteredOn(InsufficientFunds.class::isInstance)
        .hasSize(64 - 15)
        .allMatch(refusal -> ((InsufficientFunds) refusal).available() == 0);
    assertThat(bank.balance(from)).isZero();
    assertThat(bank.balance(credit)).isEqualTo(-50);
  }

  @Test
  void whatIsReservedStaysAndCannotLeaveOtherwise() {
    AccountId world = bank.world();
    AccountId from = bank.with(world, 100);
    AccountId to = bank.with(world, 0);
    Reserve reserve = bank.reserve(from, to, 60);

    Done reserved = (Done) bank.ask(reserve);

    assertThat(reserved.transfer().state()).isEqualTo(State.PENDING);
    assertThat(bank.account(from).balance()).isEqualTo(100);
    assertThat(bank.account(from).pending()).isEqualTo(60);
    assertThat(bank.ask(bank.move(from, world, 41))).isEqualTo(new InsufficientFunds(from, 40, 41));
    assertThat(bank.balance(to)).isZero();
  }

  @Test
  void aPendingTransferIsPostedInPartAndTheRestIsGivenBack() {
    AccountId world = bank.world();
    AccountId from = bank.with(world, 100);
    AccountId to = bank.with(world, 0);
    Reserve reserve = bank.reserve(from, to, 60);
    bank.ask(reserve);

    assertThat(bank.ask(bank.post(reserve.id(), 61)))
        .isInstanceOf(LedgerOutcome.BeyondReserved.class);
    Done posted = (Done) bank.ask(bank.post(reserve.id(), 25));

    assertThat(posted.transfer().posted()).isEqualTo(25);
    assertThat(bank.account(from).balance()).isEqualTo(75);
    assertThat(bank.account(from).pending()).isZero();
    assertThat(bank.balance(to)).isEqualTo(25);
    assertThat(bank.ask(bank.post(reserve.id(), 25))).isEqualTo(new Done(posted.transfer(), true));
    assertThat(bank.ask(bank.post(reserve.id(), 26))).isEqualTo(new NotPending(posted.transfer()));
    assertThat(bank.ask(bank.cancel(reserve.id()))).isEqualTo(new NotPending(posted.transfer()));
  }

  @Test
  void ofAllWhoWantToEndAPendingTransferOneDoes() throws Exception {
    AccountId world = bank.world();
    AccountId from = bank.with(world, 100);
    AccountId to = bank.with(world, 0);
    Reserve reserve = bank.reserve(from, to, 60);
    bank.ask(reserve);
    List<Ledger> nodes = List.of(bank.node(), bank.anotherNode());

    List<EndResult> results =
        Race.<EndResult>of(16)
            .run(
                i ->
                    bank.ask(
                        Door.of(i / 2),
                        nodes.get(i / 4 % 2),
                        i % 2 == 0 ? bank.post(reserve.id()) : bank.cancel(reserve.id())))
            .valuesOrThrow();

    assertThat(results)
        .filteredOn(result -> result instanceof Done done && !done.replayed())
        .hasSize(1);
    assertThat(bank.balance(from) + bank.balance(to)).isEqualTo(100);
    assertThat(bank.account(from).pending()).isZero();
  }

  @Test
  void whatHasExpiredIsFreeForTheNextWhoNeedsItAndCannotBePosted() {
    AccountId world = bank.world();
    AccountId from = bank.with(world, 100);
    Reserve first = bank.reserve(from, world, 100);
    Reserve second = bank.reserve(from, world, 100);
    bank.ask(first);
    assertThat(bank.ask(second)).isInstanceOf(InsufficientFunds.class);

    bank.expire(first.id());

    assertThat(bank.ask(second)).isInstanceOf(Done.class);
    assertThat(bank.ask(bank.post(first.id())))
        .isInstanceOfSatisfying(
            NotPending.class,
            refused -> assertThat(refused.transfer().state()).isEqualTo(State.EXPIRED));
    bank.expire(second.id());
    assertThat(bank.ask(bank.post(second.id()))).isInstanceOf(NotPending.class);
    assertThat(bank.account(from).pending()).isZero();
  }

  @Test
  void aSweepEndsWhatHasExpiredAndNothingElse() {
    AccountId world = bank.world();
    AccountId from = bank.with(world, 100);
    List<Reserve> all =
        IntStream.range(0, 10).mapToObj(i -> bank.reserve(from, world, 10)).toList();
    all.forEach(bank::ask);
    all.subList(0, 6).forEach(reserve -> bank.expire(reserve.id()));

    assertThat(bank.node().sweep()).isEqualTo(6);
    assertThat(bank.node().sweep()).isZero();
    assertThat(bank.account(from).pending()).isEqualTo(40);
    assertThat(bank.node().transfer(bank.book(), all.get(0).id()).orElseThrow().state())
        .isEqualTo(State.EXPIRED);
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void linkedTransfersHappenAllOrNone(Door door) {
    AccountId world = bank.world();
    AccountId buyer = bank.with(world, 100);
    AccountId seller = bank.with(world, 0);
    AccountId tax = bank.with(world, 0);
    Linked tooMuch = bank.linked(bank.move(buyer, seller, 90), bank.move(buyer, tax, 11));
    // Only what the first brings can pay for the second.
    Linked inOrder = bank.linked(bank.move(buyer, seller, 90), bank.move(seller, tax, 9));

    assertThat(bank.ask(door, bank.node(), tooMuch))
        .isEqualTo(new Refused(1, new InsufficientFunds(buyer, 10, 11)));
    assertThat(bank.balance(buyer)).isEqualTo(100);
    assertThat(bank.ask(door, bank.node(), inOrder))
        .isInstanceOfSatisfying(AllDone.class, done -> assertThat(done.replayed()).isFalse());
    assertThat(bank.ask(door, bank.node(), inOrder))
        .isInstanceOfSatisfying(AllDone.class, done -> assertThat(done.replayed()).isTrue());
    assertThat(bank.balance(tax)).isEqualTo(9);
  }

  /** The second move rests on what the first left in memory, and is written without reading. */
  @Test
  void aCompanionWritesInTheSameTransactionOnceABatch() throws Exception {
    database.execute(
        "DROP TABLE IF EXISTS note; CREATE TABLE note (text text CHECK (text <> 'bad'))");
    AccountId world = bank.world();
    AccountId to = bank.with(world, 0);
    AtomicInteger calls = new AtomicInteger();
    TransferCompanion<String> notes =
        (exchange, outcomes) -> {
          calls.incrementAndGet();
          for (var noted : outcomes) {
            Sql.execute(exchange.connection(), "INSERT INTO note VALUES (?)", noted.payload());
          }
        };

    Door.await(bank.node().submit(bank.move(world, to, 7), notes, "good"));
    assertThat(calls).hasValue(1);
    var bad = bank.node().submit(bank.move(world, to, 7), notes, "bad").toCompletableFuture();

    assertThat(bad).failsWithin(java.time.Duration.ofSeconds(30));
    assertThat(bank.balance(to)).isEqualTo(7);
    assertThat(database.query("SELECT text FROM note", row -> row.getString(1)))
        .containsExactly("good");
  }

  @Test
  void onTheCallersConnectionNothingHappensUntilTheCallerCommits() throws Exception {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 0);
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      String before = Sql.text(connection, "SHOW enable_hashjoin");
      List<LedgerOutcome> outcomes =
          bank.node().runAll(connection, List.of(bank.move(world, to, 5), bank.move(to, world, 2)));
      assertThat(outcomes).hasOnlyElementsOfType(Done.class);
      assertThat(Sql.text(connection, "SHOW enable_hashjoin")).isEqualTo(before);
      assertThat(bank.balance(to)).isZero();
      connection.rollback();
    }
    assertThat(bank.balance(to)).isZero();
  }

  @Test
  void theBalanceAtAnInstantAndAStatementAreWhatTheEntriesSay() {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 0);
    List<Instant> times = new ArrayList<>();
    for (int i = 1; i <= 9; i++) {
      times.add(((Done) bank.ask(bank.move(world, to, i))).transfer().createdAt());
    }

    assertThat(times).isSorted().doesNotHaveDuplicates();
    for (int i = 0; i < times.size(); i++) {
      long sum = (i + 1L) * (i + 2) / 2;
      assertThat(bank.node().balanceAt(bank.book(), to, times.get(i))).isEqualTo(sum);
      assertThat(bank.node().balanceAt(bank.book(), to, times.get(i).minusNanos(1_000)))
          .isEqualTo(sum - i - 1);
    }
    Statement statement = bank.node().statement(bank.book(), to, times.get(2), times.get(5), 100);
    assertThat(statement.opening()).isEqualTo(6);
    assertThat(statement.closing()).isEqualTo(21);
    assertThat(statement.entries()).extracting(Entry::amount).containsExactly(4L, 5L, 6L);
    assertThat(bank.node().statement(bank.book(), to, Instant.EPOCH, times.get(8), 2).more())
        .isTrue();
  }

  /** A clock that was set back must not put a later entry before an earlier one. */
  @Test
  void anAccountsTimesNeverGoBack() {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 0);
    Instant ahead = Instant.parse("2200-01-01T00:00:00Z");
    database.execute(
        "UPDATE lockstep.account SET changed_at = '2200-01-01Z' WHERE account = "
            + to.value()
            + " AND book = "
            + bank.book().value());

    Done done = (Done) bank.ask(bank.move(world, to, 1));

    assertThat(done.transfer().createdAt()).isEqualTo(ahead);
    assertThat(bank.node().balanceAt(bank.book(), to, ahead)).isEqualTo(1);
  }

  @Test
  void theTrialBalanceOfEachCurrencyIsZero() {
    AccountId world = bank.world();
    bank.with(world, 70);
    bank.with(world, 30);

    assertThat(bank.node().trialBalance(bank.book()))
        .singleElement()
        .satisfies(
            jpy -> {
              assertThat(jpy.credit()).isEqualTo(100);
              assertThat(jpy.debit()).isEqualTo(100);
              assertThat(jpy.difference()).isZero();
              assertThat(jpy.accounts()).isEqualTo(3);
            });
  }
}
