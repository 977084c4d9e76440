package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOutcome.AllDone;
import dev.lockstep.ledger.LedgerOutcome.InsufficientFunds;
import dev.lockstep.ledger.LedgerOutcome.Refused;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.CommitFault.Moment;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Tampered;
import dev.lockstep.tx.Transactor;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A batch may be written without reading: several transfers on what the last batch left behind, a
 * lone one on nothing at all. Each test first lets a node learn, then changes behind its back what
 * it has learnt: its next answer must be as if it had looked.
 */
class UnreadTransfersTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Bank bank = new Bank(database);

  @Test
  void whatAnotherNodeMovedIsNotForgottenBySeveral() {
    AccountId world = bank.world();
    AccountId here = bank.with(world, 100);
    AccountId there = bank.with(world, 100);
    bank.ask(both(here, there, 1));
    Door.await(bank.anotherNode().submit(bank.move(here, world, 90)));

    assertThat(bank.ask(both(here, there, 9))).isInstanceOf(AllDone.class);
    assertThat(bank.balance(here)).isEqualTo(10);
    assertThat(bank.faults()).as("the memory was relied upon").contains(SqlFault.SERIALIZATION);
  }

  @Test
  void whatAnotherNodeMovedIsNotForgottenByOne() {
    AccountId world = bank.world();
    AccountId from = bank.with(world, 100);
    Ledger other = bank.anotherNode();
    bank.ask(bank.move(from, world, 1));
    Door.await(other.submit(bank.move(from, world, 90)));

    // The first node believes in 99.
    assertThat(bank.ask(bank.move(from, world, 50))).isEqualTo(new InsufficientFunds(from, 9, 50));
    assertThat(bank.faults()).as("it was tried unread").contains(SqlFault.SERIALIZATION);
    assertThat(bank.ask(bank.move(from, world, 9))).isInstanceOf(TransferDone.class);
    assertThat(bank.balance(from)).isZero();
  }

  /** A lone transfer is one statement, whose transaction has the settings of its session. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "default_transaction_read_only=on",
        "default_transaction_isolation=serializable",
        "default_transaction_isolation=repeatable\\ read"
      })
  void theDefaultsOfASessionKeepNobodyFromATransfer(String setting) {
    AccountId world = bank.world();
    AccountId account = bank.with(world, 0);
    PGSimpleDataSource sessions = new PGSimpleDataSource();
    sessions.setUrl(database.url());
    sessions.setUser(database.user());
    sessions.setPassword(database.password());
    sessions.setOptions("-c " + setting);
    try (Ledger node = new Ledger(new Transactor(sessions))) {
      for (int i = 0; i < 3; i++) {
        assertThat(Door.await(node.submit(bank.move(world, account, 1))))
            .isInstanceOf(TransferDone.class);
      }
    }
    assertThat(bank.balance(account)).isEqualTo(3);
  }

  @Test
  void aFloorThatWasRaisedElsewhereIsInForceAtOnce() {
    AccountId world = bank.world();
    AccountId one = bank.open(OptionalLong.of(-10));
    AccountId several = bank.open(OptionalLong.of(-10));
    bank.ask(both(one, several, 1));

    assertThat(bank.anotherNode().setFloor(bank.book(), one, OptionalLong.of(0))).isTrue();
    assertThat(bank.anotherNode().setFloor(bank.book(), several, OptionalLong.of(0))).isTrue();

    assertThat(bank.ask(bank.linked(bank.move(several, world, 1), bank.move(world, several, 2))))
        .isEqualTo(new Refused(0, new InsufficientFunds(several, 0, 1)));
    assertThat(bank.ask(bank.move(one, world, 1))).isEqualTo(new InsufficientFunds(one, 0, 1));
  }

  /** Many accounts are changed by one statement, few by one each. */
  @Test
  void aFloorThatWasRaisedElsewhereIsInForceAmongMany() {
    AccountId world = bank.world();
    List<AccountId> many = Stream.generate(() -> bank.open(OptionalLong.of(-10))).limit(9).toList();
    AccountId last = many.get(8);
    assertThat(bank.ask(oneOfEach(many, world))).isInstanceOf(AllDone.class);
    bank.anotherNode().setFloor(bank.book(), last, OptionalLong.of(-1));

    assertThat(bank.ask(oneOfEach(many, world)))
        .isEqualTo(new Refused(8, new InsufficientFunds(last, 0, 1)));
    assertThat(bank.faults()).as("it was tried unread").contains(SqlFault.SERIALIZATION);
    assertThat(many).allSatisfy(account -> assertThat(bank.balance(account)).isEqualTo(-1));
  }

  private Linked oneOfEach(List<AccountId> accounts, AccountId to) {
    return bank.linked(
        accounts.stream().map(from -> bank.move(from, to, 1)).toArray(LedgerCommand<?>[]::new));
  }

  @Test
  void aFloorThatWasLoweredElsewhereIsInForceAtOnce() {
    AccountId world = bank.world();
    AccountId from = bank.with(world, 1);
    bank.ask(bank.move(from, world, 1));

    bank.anotherNode().setFloor(bank.book(), from, OptionalLong.of(-5));

    assertThat(bank.ask(bank.move(from, world, 5))).isInstanceOf(TransferDone.class);
    bank.anotherNode().setFloor(bank.book(), from, OptionalLong.empty());
    assertThat(bank.ask(bank.linked(bank.move(from, world, 2), bank.move(from, world, 3))))
        .isInstanceOf(AllDone.class);
    assertThat(bank.balance(from)).isEqualTo(-10);
  }

  /** A database that lost what it had committed can come to the same version another way. */
  @Test
  void theSameVersionWithOtherMoneyIsNotWhatWasRemembered() {
    AccountId world = bank.world();
    AccountId here = bank.with(world, 100);
    AccountId there = bank.with(world, 100);
    bank.ask(both(here, there, 1));
    String set =
        "UPDATE lockstep.account SET balance = balance %s WHERE book = %d AND account = %d";
    database.execute(set.formatted("- 70", bank.book().value(), here.value()));
    try {
      bank.ask(both(here, there, 9));

      assertThat(bank.balance(here)).isEqualTo(30);
    } finally {
      database.execute(set.formatted("+ 70", bank.book().value(), here.value()));
      database.execute(
          """
          SET session_replication_role = replica;
          UPDATE lockstep.entry SET balance = balance + 70
          WHERE version > 3 AND book = %d AND account = %d;
          RESET session_replication_role"""
              .formatted(bank.book().value(), here.value()));
    }
  }

  @Test
  void aRepeatedTransferIsTheFirstOne() {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 5);
    Move move = bank.move(world, to, 7);
    TransferDone first = (TransferDone) bank.ask(move);

    assertThat(bank.ask(move)).isEqualTo(new TransferDone(first.transfer(), true));
    assertThat(bank.node().transfer(bank.book(), move.id())).contains(first.transfer());
    assertThat(bank.balance(to)).isEqualTo(12);
  }

  @ParameterizedTest
  @EnumSource(Moment.class)
  void severalLostWithTheirConnectionHaveOneEffect(Moment moment) {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 0);
    try (CommitFault fault = CommitFault.on(database);
        Ledger node = new Ledger(new Transactor(fault.dataSource()))) {
      Door.await(node.submit(both(world, to, 1)));
      fault.arm(moment);
      LinkedResult moved = Door.await(node.submit(both(world, to, 10)));

      assertThat(fault.fired()).isTrue();
      assertThat(((AllDone) moved).replayed()).isFalse();
      assertThat(Door.await(node.submit(both(world, to, 100)))).isInstanceOf(AllDone.class);
    }
    assertThat(bank.account(to).version()).isEqualTo(6);
  }

  @ParameterizedTest
  @EnumSource(Moment.class)
  void aLoneTransferLostWithItsConnectionHasOneEffect(Moment moment) {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 0);
    try (SingleTransferFault fault = new SingleTransferFault(database);
        Ledger node = new Ledger(new Transactor(fault.dataSource()))) {
      Door.await(node.submit(bank.move(world, to, 1)));
      fault.arm(moment);
      Move lost = bank.move(world, to, 10);
      TransferDone moved = (TransferDone) Door.await(node.submit(lost));

      assertThat(fault.fired()).isTrue();
      assertThat(moved).isEqualTo(new TransferDone(stored(lost), false));
      assertThat(Door.await(node.submit(bank.move(world, to, 100))))
          .isInstanceOf(TransferDone.class);
    }
    assertThat(bank.balance(to)).isEqualTo(111);
    assertThat(bank.account(to).version()).isEqualTo(3);
  }

  /** It was there before, by way of another node: nothing of it is this node's doing. */
  @Test
  void aLoneTransferLostOnItsWayIsNotTakenForItsEarlierTwin() {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 0);
    try (SingleTransferFault fault = new SingleTransferFault(database);
        Ledger node = new Ledger(new Transactor(fault.dataSource()))) {
      Door.await(node.submit(bank.move(world, to, 1)));
      Move twin = bank.move(world, to, 10);
      bank.ask(twin);
      // Nodes need not agree on the time to the millisecond; of this one, nobody doubts.
      database.execute(
          "UPDATE lockstep.transfer SET created_at = created_at - interval '1 second'"
              + " WHERE transfer = '%s'".formatted(twin.id().value()));
      fault.arm(Moment.BEFORE_COMMIT);

      assertThat(Door.await(node.submit(twin))).isEqualTo(new TransferDone(stored(twin), true));
      assertThat(fault.fired()).isTrue();
    }
    assertThat(bank.balance(to)).isEqualTo(11);
  }

  /** The lost one may be on its way still, and find the account filled again. */
  @Test
  void whenALoneTransferWasLostItIsNotSaidThatItWasRefused() {
    AccountId world = bank.world();
    AccountId from = bank.with(world, 10);
    AtomicBoolean lost = new AtomicBoolean();
    try (SingleTransferFault fault = new SingleTransferFault(database)) {
      // Before the node can ask again somebody else takes what is there.
      DataSource source =
          Tampered.gated(
              fault.dataSource(),
              () -> {
                if (fault.fired() && lost.compareAndSet(false, true)) {
                  bank.ask(bank.move(from, world, 9));
                }
              });
      try (Ledger node = new Ledger(new Transactor(source))) {
        Door.await(node.submit(bank.move(from, world, 1)));
        fault.arm(Moment.BEFORE_COMMIT);
        assertThatThrownBy(() -> Door.await(node.submit(bank.move(from, world, 5))))
            .isInstanceOf(OutcomeUnknown.class);
        assertThat(Door.await(node.submit(bank.move(from, world, 5))))
            .isEqualTo(new InsufficientFunds(from, 0, 5));
      }
    }
  }

  private Linked both(AccountId from, AccountId to, long amount) {
    return bank.linked(bank.move(from, to, amount), bank.move(to, from, amount));
  }

  private Transfer stored(Move move) {
    return bank.node().transfer(bank.book(), move.id()).orElseThrow();
  }
}
