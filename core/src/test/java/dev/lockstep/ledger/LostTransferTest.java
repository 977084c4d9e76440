package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOutcome.AllDone;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.LatePacket;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.SlowCommit;
import dev.lockstep.tx.Tampered;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Transfers that went in one packet are lost with their connection, and may still commit: late,
 * because the packet was delayed, or because the server takes its time.
 */
class LostTransferTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Bank bank = new Bank(database);

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aTransferThatTheServerIsStillCommittingIsNotSaidToBeRolledBack(boolean byDeadline)
      throws Exception {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 0);
    Move move = bank.move(world, to, 10);
    try (CommitFault network = CommitFault.on(database);
        Ledger node = new Ledger(new Transactor(network.dataSource()), impatient(byDeadline))) {
      try (SlowCommit commits = SlowCommit.preparedFor(database, "lockstep.transfer")) {
        node.call(bank.move(world, to, 1));
        commits.hold();
        Background<TransferResult> caller = Background.start(() -> node.call(move));
        Await.blocked(database, 1);
        network.proxy().cut();

        assertThatThrownBy(caller::result).isInstanceOf(OutcomeUnknown.class);
        commits.release();
        Await.until("it was committed after all", () -> bank.balance(to) == 11);
      }
    }
  }

  @Test
  void severalTransfersThatTheServerIsStillCommittingAreNotSaidToBeRolledBack() throws Exception {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 100);
    try (CommitFault network = CommitFault.on(database);
        Ledger node = new Ledger(new Transactor(network.dataSource()), impatient(false))) {
      try (SlowCommit commits = SlowCommit.preparedFor(database, "lockstep.transfer")) {
        node.call(both(world, to, 1));
        commits.hold();
        Background<LinkedResult> caller = Background.start(() -> node.call(both(world, to, 5)));
        Await.blocked(database, 1);
        network.proxy().cut();

        assertThatThrownBy(caller::result).isInstanceOf(OutcomeUnknown.class);
        commits.release();
        Await.until("it was committed after all", () -> bank.account(to).version() == 5);
      }
    }
  }

  /** The accounts are emptied by somebody else before the transfers are tried again. */
  @Test
  void severalTransfersThatAreRefusedAfterTheyWereLostAreUnknown() {
    AccountId world = bank.world();
    AccountId from = bank.with(world, 10);
    try (LatePacket network = LatePacket.on(database);
        Ledger node =
            new Ledger(
                new Transactor(
                    Tampered.onceLost(network, () -> bank.ask(bank.move(from, world, 10)))))) {
      Door.await(node.submit(both(world, from, 1)));
      network.arm();

      assertThatThrownBy(() -> Door.await(node.submit(both(from, world, 5))))
          .isInstanceOf(OutcomeUnknown.class);
      assertThat(network.awaitKept()).as("all of it in one packet").contains("BEGIN", "COMMIT");
      network.deliver();
    }
  }

  /** As the very same versions of the accounts, and at another time. */
  @Test
  void aTwinsTransfersAreNotTakenForThoseThatWereLost() {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 100);
    Linked command = both(world, to, 5);
    AtomicReference<LinkedResult> twins = new AtomicReference<>();
    try (LatePacket network = LatePacket.on(database);
        Ledger node =
            new Ledger(
                new Transactor(Tampered.onceLost(network, () -> twins.set(bank.ask(command)))))) {
      Door.await(node.submit(both(world, to, 1)));
      network.arm();

      AllDone callers = (AllDone) Door.await(node.submit(command));

      AllDone done = (AllDone) Objects.requireNonNull(twins.get());
      assertThat(callers.transfers()).isEqualTo(done.transfers());
      assertThat(callers.replayed()).isTrue();
      assertThat(done.replayed()).isFalse();
      network.deliver();
    }
  }

  @Test
  void packetsThatComeAfterTheirRepetitionDoubleNothing() {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 100);
    try (LatePacket network = LatePacket.on(database);
        Ledger node = new Ledger(new Transactor(network.dataSource()))) {
      Door.await(node.submit(both(world, to, 1)));
      network.arm();
      assertThat(Door.await(node.submit(both(world, to, 5)))).isInstanceOf(AllDone.class);
      assertThat(network.awaitKept()).contains("COMMIT");
      network.deliver();
    }
    assertThat(bank.account(to).version()).isEqualTo(5);
    try (LatePacket network = LatePacket.on(database);
        Ledger node = new Ledger(new Transactor(network.dataSource()))) {
      Door.await(node.submit(bank.move(world, to, 1)));
      network.arm();
      assertThat(Door.await(node.submit(bank.move(world, to, 10))))
          .isInstanceOf(TransferDone.class);
      assertThat(network.awaitKept())
          .singleElement()
          .asString()
          .as("a statement that stands alone")
          .contains("lockstep.move(");
      network.deliver();
    }
    assertThat(bank.balance(to)).isEqualTo(111);
  }

  private static LedgerConfig impatient(boolean byDeadline) {
    TxOptions options = LedgerConfig.DEFAULT.combiner().transaction();
    return LedgerConfig.DEFAULT.withCombiner(
        LedgerConfig.DEFAULT
            .combiner()
            .withTransaction(
                byDeadline
                    ? options.withDeadline(Duration.ofSeconds(2))
                    : options.withLockTimeout(Duration.ofMillis(300))));
  }

  private Linked both(AccountId from, AccountId to, long amount) {
    return bank.linked(bank.move(from, to, amount), bank.move(to, from, amount));
  }
}
