package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Companion;
import dev.lockstep.combine.Door;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerOutcome.AllDone;
import dev.lockstep.ledger.LedgerOutcome.InsufficientFunds;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * More has expired than a batch ends. Whoever could be served with what is still to come back is
 * not told that there is too little.
 */
class ManyExpiredTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Bank bank = new Bank(database);

  private static final int EXPIRED = 7;

  private final List<LedgerOutcome> accompanied = new CopyOnWriteArrayList<>();
  private Ledger node;
  private AccountId world;
  private AccountId from;

  @BeforeEach
  void allIsReservedAndHasExpired() {
    node = new Ledger(bank.transactor(), LedgerConfig.DEFAULT.withSweepBatch(2));
    world = bank.world();
    from = bank.with(world, EXPIRED);
    List<Reserve> reserved = new ArrayList<>();
    for (int i = 0; i < EXPIRED; i++) {
      Reserve one = bank.reserve(from, world, 1);
      assertThat(bank.ask(one)).isInstanceOf(TransferDone.class);
      reserved.add(one);
    }
    reserved.forEach(one -> bank.expire(one.id()));
  }

  @AfterEach
  void close() {
    node.close();
  }

  @ParameterizedTest
  @EnumSource
  void aMoveOfAllOfItIsDone(Door door) {
    assertThat(bank.ask(door, node, bank.move(from, world, EXPIRED)))
        .isInstanceOf(TransferDone.class);

    assertThat(bank.balance(from)).isZero();
    assertThat(expired()).isEqualTo(EXPIRED);
  }

  @ParameterizedTest
  @EnumSource
  void soAreStepsThatAreLinked(Door door) {
    assertThat(
            bank.ask(
                door,
                node,
                bank.linked(bank.move(from, world, 1), bank.reserve(from, world, EXPIRED - 1))))
        .isInstanceOf(AllDone.class);
  }

  @Test
  void soItIsForACallerThatWaits() {
    assertThat(node.call(bank.move(from, world, EXPIRED))).isInstanceOf(TransferDone.class);
  }

  @ParameterizedTest
  @EnumSource
  void whatIsTooMuchEvenThenIsRefusedWithAllOfItCounted(Door door) {
    assertThat(bank.ask(door, node, bank.move(from, world, EXPIRED + 1)))
        .isEqualTo(new InsufficientFunds(from, EXPIRED, EXPIRED + 1));

    assertThat(expired()).isEqualTo(EXPIRED);
  }

  /** Without a floor nothing is lacking, but there is an end to what can be counted. */
  @ParameterizedTest
  @EnumSource
  void whatIsBeyondCountingOnlyUntilAllHasExpiredIsDone(Door door) {
    AccountId source = bank.world();
    AccountId target = bank.open(OptionalLong.of(0));
    List<Reserve> reserved = new ArrayList<>();
    for (int i = 0; i < EXPIRED; i++) {
      Reserve one = bank.reserve(source, target, Long.MAX_VALUE / (EXPIRED + 1));
      assertThat(bank.ask(one)).isInstanceOf(TransferDone.class);
      reserved.add(one);
    }
    reserved.forEach(one -> bank.expire(one.id()));

    assertThat(bank.ask(door, node, bank.reserve(source, target, Long.MAX_VALUE / 2)))
        .isInstanceOf(TransferDone.class);
  }

  @Test
  void aCompanionHearsOfTheOneOutcomeThatIsTold() {
    LedgerOutcome told =
        node.call(
                bank.move(from, world, EXPIRED),
                Companion.writing(
                    (open, commands) -> commands.forEach(one -> accompanied.add(one.outcome()))),
                "payload")
            .outcome();

    assertThat(accompanied).containsExactly(told);
  }

  @ParameterizedTest
  @EnumSource
  void whatNeedsNoneOfItIsDoneAtOnce(Door door) {
    AccountId rich = bank.with(world, 10);

    assertThat(
            bank.ask(door, node, bank.linked(bank.move(rich, from, 5), bank.move(from, world, 1))))
        .isInstanceOf(AllDone.class);

    assertThat(expired()).isEqualTo(2);
  }

  @Test
  void onTheCallersConnectionALaterCommandFindsTheEarlierOneDone() {
    Reserve all = bank.reserve(from, world, EXPIRED);

    List<LedgerOutcome> outcomes =
        bank.transactor()
            .call(connection -> node.joinAll(connection, List.of(all, bank.post(all.id()))));

    assertThat(outcomes).hasOnlyElementsOfType(TransferDone.class);
    assertThat(bank.balance(from)).isZero();
  }

  @Test
  void onTheCallersConnectionALaterCommandDoesNotTakeWhatAnEarlierOneGets() {
    List<LedgerOutcome> outcomes =
        bank.transactor()
            .call(
                connection ->
                    node.joinAll(
                        connection,
                        List.of(bank.move(from, world, EXPIRED), bank.move(from, world, 1))));

    assertThat(outcomes.get(0)).isInstanceOf(TransferDone.class);
    assertThat(outcomes.get(1)).isEqualTo(new InsufficientFunds(from, 0, 1));
  }

  private long expired() {
    return database.queryLong(
        "SELECT count(*) FROM lockstep.transfer WHERE book = %d AND state = %d"
            .formatted(bank.book().value(), TransferState.EXPIRED.code()));
  }
}
