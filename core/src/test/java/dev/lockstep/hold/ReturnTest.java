package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.LinesDiffer;
import dev.lockstep.hold.HoldOutcome.NotSold;
import dev.lockstep.hold.HoldOutcome.PartReturned;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What was sold comes back once, whole or in parts. */
class ReturnTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  @Test
  void whatWasSoldComesBackOnceHoweverManyAskAndIsForSaleAgain() throws Exception {
    Sale sale = fixture.saleWithLimit(3);
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    PoolId things = sale.counted(1);
    PoolId seats = sale.units(2);
    for (int round = 0; round < 10; round++) {
      Hold hold = sale.hold("buyer", Line.of(things, 1), Line.of(seats, 2));
      sale.ask(sale.confirm(hold.id()));

      List<ReturnResult> told =
          Race.<ReturnResult>of(8)
              .run(i -> sale.ask(Door.of(i / 2), nodes.get(i % 2), sale.giveBack(hold.id())))
              .valuesOrThrow();

      Hold returned = sale.find(hold.id());
      assertThat(returned.state()).isEqualTo(HoldState.RETURNED);
      assertThat(told)
          .allMatch(result -> result instanceof Ended ended && ended.hold().equals(returned));
      assertThat(told).filteredOn(result -> !((Ended) result).replayed()).hasSize(1);
      assertThat(sale.counts(seats)).isEqualTo(new PoolCounts(seats, 2, 0, 0));
    }
  }

  @Test
  void aPartOfWhatWasSoldComesBackAndTheRestStaysSold() throws Exception {
    Sale sale = fixture.saleWithLimit(5);
    PoolId things = sale.counted(3);
    PoolId seats = sale.units(2);
    Hold hold = sale.hold("buyer", Line.of(things, 3), Line.of(seats, 2));
    int seat = hold.lines().get(1).units().get(0);
    Return two = part(sale, hold, Line.of(things, 2), Line.units(seats, List.of(seat)));
    assertThat(sale.ask(two)).as("held, not sold").isInstanceOf(NotSold.class);
    sale.ask(sale.confirm(hold.id()));

    assertThat(sale.ask(part(sale, hold, Line.of(things, 4)))).isInstanceOf(LinesDiffer.class);
    PartReturned back = (PartReturned) sale.ask(two);

    assertThat(back.hold()).isEqualTo(sale.find(hold.id()));
    assertThat(back.hold().state()).isEqualTo(HoldState.SOLD);
    assertThat(back.hold().quantity()).isEqualTo(2);
    assertThat(sale.counts(things)).isEqualTo(new PoolCounts(things, 3, 0, 1));
    assertThat(sale.counts(seats)).isEqualTo(new PoolCounts(seats, 2, 0, 1));
    assertThat(sale.ask(two)).as("that seat is not its any more").isInstanceOf(LinesDiffer.class);
    // The seat, and the buyer's share, are free again.
    sale.ask(sale.confirm(sale.hold("buyer", Line.units(seats, List.of(seat))).id()));
    assertThat(sale.ask(part(sale, hold, Line.of(things, 1), Line.of(seats, 1))))
        .as("all that was left")
        .isInstanceOf(Ended.class);
    assertThat(sale.find(hold.id()).state()).isEqualTo(HoldState.RETURNED);
    assertThat(sale.counts(seats)).isEqualTo(new PoolCounts(seats, 2, 0, 1));
  }

  @Test
  void partsThatComeBackAtOnceAreNeverMoreThanWasSold() throws Exception {
    Sale sale = fixture.saleWithLimit(10);
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    PoolId things = sale.counted(10);
    Hold hold = sale.hold("buyer", Line.of(things, 5));
    sale.ask(sale.confirm(hold.id()));

    List<ReturnResult> told =
        Race.<ReturnResult>of(8)
            .run(
                i ->
                    sale.ask(
                        Door.of(i / 2), nodes.get(i % 2), part(sale, hold, Line.of(things, 1))))
            .valuesOrThrow();

    assertThat(told).filteredOn(PartReturned.class::isInstance).hasSize(4);
    assertThat(told)
        .filteredOn(result -> result instanceof Ended ended && !ended.replayed())
        .hasSize(1);
    assertThat(sale.counts(things)).isEqualTo(new PoolCounts(things, 10, 0, 0));
  }

  private static Return part(Sale sale, Hold hold, Line... lines) {
    Return all = sale.giveBack(hold.id());
    return new Return(all.scope(), all.hold(), all.actor(), List.of(lines));
  }

  /** What one command of a batch gives back, the next may take, within the same limit. */
  @Test
  void aReturnAndSalesOfTheSameThingsInOneBatchKeepTheirOrder() throws Exception {
    Sale sale = fixture.saleWithLimit(1);
    PoolId seats = sale.units(1);
    Hold hold = sale.hold("first", Line.of(seats, 1));
    HoldId next = HoldId.next();

    List<HoldOutcome> outcomes =
        sale.transactor()
            .call(
                connection ->
                    sale.node()
                        .joinAll(
                            connection,
                            List.of(
                                sale.giveBack(hold.id()),
                                sale.confirm(hold.id()),
                                sale.giveBack(hold.id()),
                                sale.acquire(next, "first", Line.of(seats, 1)),
                                sale.confirm(next))));

    assertThat(outcomes.get(0)).isInstanceOf(NotSold.class);
    assertThat(outcomes.subList(1, 3)).allMatch(outcome -> outcome instanceof Ended);
    assertThat(outcomes.get(3)).isInstanceOf(Granted.class);
    assertThat(sale.find(hold.id()).state()).isEqualTo(HoldState.RETURNED);
    assertThat(sale.find(next).state()).isEqualTo(HoldState.SOLD);
    assertThat(sale.counts(seats)).isEqualTo(new PoolCounts(seats, 1, 0, 1));
  }
}
