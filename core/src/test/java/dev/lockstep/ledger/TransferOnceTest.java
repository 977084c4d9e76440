package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.ledger.LedgerOutcome.TransferIdReused;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.CommitFault.Moment;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A transfer has one effect: repeated, at two nodes, with the connection lost. */
class TransferOnceTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Bank bank = new Bank(database);

  @Test
  void twinsAtTwoNodesAndBothDoorsMoveMoneyOnce() throws Exception {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 0);
    List<Ledger> nodes = List.of(bank.node(), bank.anotherNode());
    Move move = bank.move(world, to, 7);

    List<TransferResult> results =
        Race.<TransferResult>of(16)
            .run(i -> bank.ask(Door.of(i / 2), nodes.get(i % 2), move))
            .valuesOrThrow();

    assertThat(results).hasOnlyElementsOfType(TransferDone.class);
    assertThat(results).filteredOn(result -> !((TransferDone) result).replayed()).hasSize(1);
    assertThat(bank.balance(to)).isEqualTo(7);
  }

  @Test
  void anIdWithAnotherContentIsRefused() {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 0);
    Move move = bank.move(world, to, 7);
    bank.ask(move);

    Money more = new Money(8, Bank.JPY);
    assertThat(bank.ask(new Move(bank.book(), move.id(), world, to, more)))
        .isEqualTo(new TransferIdReused(move.id()));
    assertThat(bank.ask(new Move(bank.book(), move.id(), to, world, move.money())))
        .isEqualTo(new TransferIdReused(move.id()));
    assertThat(bank.ask(new Reserve(bank.book(), move.id(), world, to, move.money(), Bank.A_WHILE)))
        .isEqualTo(new TransferIdReused(move.id()));
    assertThat(bank.balance(to)).isEqualTo(7);
  }

  @ParameterizedTest
  @EnumSource(Moment.class)
  void everyCommandHasOneEffectWheneverTheConnectionIsLostDuringCommit(Moment moment) {
    AccountId world = bank.world();
    AccountId from = bank.with(world, 100);
    Reserve reserve = bank.reserve(from, world, 60);
    try (CommitFault fault = CommitFault.on(database);
        Ledger node = new Ledger(new Transactor(fault.dataSource()))) {
      fault.arm(moment);
      TransferResult reserved = Door.await(node.submit(reserve));
      fault.arm(moment);
      TransferEndResult posted = Door.await(node.submit(bank.post(reserve.id())));

      assertThat(((TransferDone) reserved).replayed()).isFalse();
      assertThat(((TransferDone) posted).replayed()).isFalse();
    }
    assertThat(bank.balance(from)).isEqualTo(40);
    assertThat(bank.account(from).version()).as("received, reserved, posted").isEqualTo(3);
  }
}
