package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.Shortage;
import dev.lockstep.hold.HoldOutcome.SoldOut;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.RaceResult;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A cart is held whole or not at all, and carts over the same pools never block each other. */
class CartIsAllOrNothingTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  @Test
  void cartsOfTheSamePoolsInOppositeOrderNeitherDeadlockNorAreTakenInPart() throws Exception {
    Sale sale = fixture.sale();
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    PoolId plenty = sale.counted(200);
    PoolId scarce = sale.units(60);

    List<AcquireResult> results =
        Race.<AcquireResult>of(100)
            .run(
                i -> {
                  Line first = Line.of(plenty, 2);
                  Line second = Line.of(scarce, 1);
                  String buyer = "buyer-" + i;
                  return sale.ask(
                      Door.of(i / 2),
                      nodes.get(i / 4 % 2),
                      i % 2 == 0
                          ? sale.acquire(buyer, first, second)
                          : sale.acquire(buyer, second, first));
                })
            .valuesOrThrow();

    assertThat(Tally.of(results)).isEqualTo(Map.of("Granted", 60, "SoldOut", 40));
    assertThat(sale.counts(plenty).held()).as("two of these a cart").isEqualTo(120);
    assertThat(sale.counts(scarce).held()).isEqualTo(60);
    assertThat(sale.faults()).doesNotContain(SqlFault.DEADLOCK);
  }

  @Test
  void cartsThatAreSwappedForEachOtherDoNotDeadlock() throws Exception {
    Sale sale = fixture.sale();
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    List<PoolId> pools = List.of(sale.units(48), sale.counted(48), sale.units(48));
    List<Hold> carts =
        IntStream.range(0, 24)
            .mapToObj(i -> sale.hold("buyer-" + i, Line.of(pools.get(i % 3), 1)))
            .toList();

    List<List<HoldOutcome>> results =
        Race.<List<HoldOutcome>>of(24)
            .run(
                i ->
                    IntStream.range(1, 8)
                        .<HoldOutcome>mapToObj(
                            step ->
                                sale.ask(
                                    Door.of(i),
                                    nodes.get(i / 2 % 2),
                                    sale.change(
                                        carts.get(i).id(),
                                        Line.of(pools.get((i + step) % 3), 1),
                                        Line.of(pools.get((i + 2 * step + 1) % 3), 1))))
                        .toList())
            .valuesOrThrow();

    assertThat(Tally.of(results.stream().flatMap(List::stream).toList()))
        .isEqualTo(Map.of("Granted", 24 * 7));
    assertThat(sale.faults()).doesNotContain(SqlFault.DEADLOCK);
  }

  @Test
  void linesOfOnePoolAreSummedBeforeAnythingIsChecked() {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(3);

    AcquireResult tooMany = sale.ask(sale.acquire("buyer", Line.of(pool, 2), Line.of(pool, 2)));
    Hold cart = sale.hold("buyer", Line.of(pool, 1), Line.of(pool, 2));

    assertThat(tooMany).isEqualTo(new SoldOut(List.of(new Shortage(pool, 4, 3))));
    assertThat(cart.lines()).hasSize(1);
    assertThat(cart.lines().get(0).units()).containsExactlyInAnyOrder(0, 1, 2);
  }

  @Test
  void aCartIsChangedToMoreLessAndOtherPools() {
    Sale sale = fixture.sale();
    PoolId a = sale.counted(10);
    PoolId b = sale.units(10);
    PoolId c = sale.units(10);
    Hold cart = sale.hold("buyer", Line.of(a, 2), Line.of(b, 3));

    Hold more = changed(sale, cart, Line.of(a, 5), Line.of(b, 4));
    Hold less = changed(sale, cart, Line.of(a, 1), Line.of(b, 2));
    Hold other = changed(sale, cart, Line.of(c, 2));

    assertThat(more.lines().get(1).units()).containsAll(cart.lines().get(1).units());
    assertThat(more.lines().get(1).units()).containsAll(less.lines().get(1).units());
    assertThat(other.expiresAt()).as("changing buys no time").isEqualTo(cart.expiresAt());
    assertThat(sale.find(cart.id())).isEqualTo(other);
    assertThat(sale.counts(a).held()).isZero();
    assertThat(sale.counts(b).held()).isZero();
    assertThat(sale.counts(c).held()).isEqualTo(2);
  }

  @Test
  void aChangeThatLacksInOnePoolChangesNothing() {
    Sale sale = fixture.sale();
    PoolId a = sale.counted(10);
    PoolId b = sale.units(3);
    Hold cart = sale.hold("buyer", Line.of(a, 2), Line.of(b, 2));
    List<String> before = sale.everything();

    ChangeResult result = sale.ask(sale.change(cart.id(), Line.of(a, 9), Line.of(b, 4)));

    // What the cart holds itself counts as free for it.
    assertThat(result).isEqualTo(new SoldOut(List.of(new Shortage(b, 4, 3))));
    assertThat(sale.everything()).isEqualTo(before);
  }

  @Test
  void theVeryUnitsThatAreNamedAreGivenOrNone() {
    Sale sale = fixture.sale();
    PoolId seats = sale.units(10);
    Hold front = sale.hold("alice", Line.units(seats, List.of(3, 4)));

    AcquireResult half = sale.ask(sale.acquire("bob", Line.units(seats, List.of(4, 5))));
    Hold free = sale.hold("bob", Line.units(seats, List.of(6, 5)));

    assertThat(front.lines().get(0).units()).containsExactlyInAnyOrder(3, 4);
    assertThat(half).isEqualTo(new SoldOut(List.of(new Shortage(seats, 2, 1))));
    assertThat(free.lines().get(0).units()).containsExactlyInAnyOrder(5, 6);
    assertThat(unitsOf(sale.hold("rest", Line.of(seats, 6)))).doesNotContain(3, 4, 5, 6);
  }

  @Test
  void aCartMovesFromSeatToSeatAndLetsTheOthersGo() {
    Sale sale = fixture.sale();
    PoolId seats = sale.units(6);
    Hold cart = sale.hold("alice", Line.units(seats, List.of(0, 1, 2)));

    Hold moved = changed(sale, cart, Line.units(seats, List.of(2, 3, 4)));
    Hold taken = sale.hold("bob", Line.units(seats, List.of(1, 0)));
    Hold shrunk = changed(sale, cart, Line.units(seats, List.of(4)));
    Hold anywhere = changed(sale, cart, Line.of(seats, 4));

    assertThat(unitsOf(moved)).containsExactlyInAnyOrder(2, 3, 4);
    assertThat(unitsOf(taken)).containsExactlyInAnyOrder(0, 1);
    assertThat(unitsOf(shrunk)).containsExactly(4);
    assertThat(unitsOf(anywhere)).containsExactlyInAnyOrder(2, 3, 4, 5);
    assertThat(sale.audit(seats)).as("a swap of units is a change, too").hasSize(5);
  }

  /** In one batch the seat goes from hand to hand; each sees what those before it left. */
  @Test
  void commandsOfOneCallSeeEachOther() throws Exception {
    Sale sale = fixture.sale();
    PoolId seats = sale.units(1);
    HoldId first = HoldId.next();
    HoldId second = HoldId.next();
    List<HoldOutcome> outcomes =
        sale.transactor()
            .call(
                connection ->
                    sale.node()
                        .runAll(
                            connection,
                            List.of(
                                sale.acquire(first, "alice", Line.units(seats, List.of(0))),
                                sale.acquire(second, "bob", Line.of(seats, 1)),
                                sale.release(first),
                                sale.acquire(second, "bob", Line.of(seats, 1)),
                                sale.confirm(second),
                                sale.release(second))));

    assertThat(outcomes.stream().map(outcome -> outcome.getClass().getSimpleName()))
        .containsExactly("Granted", "SoldOut", "Ended", "Granted", "Ended", "HoldEnded");
    assertThat(sale.counts(seats)).isEqualTo(new PoolCounts(seats, 1, 0, 1));
  }

  @Test
  void naiveCartsInOppositeOrderDeadlock() throws Exception {
    database.execute(
        """
        DROP SCHEMA IF EXISTS naive CASCADE;
        CREATE SCHEMA naive;
        CREATE TABLE naive.product (id int PRIMARY KEY, stock int NOT NULL);
        INSERT INTO naive.product VALUES (1, 100), (2, 100);
        """);
    CyclicBarrier bothHaveTheirFirst = new CyclicBarrier(2);

    RaceResult<Boolean> result =
        Race.<Boolean>of(2).run(i -> naiveCart(bothHaveTheirFirst, i + 1, 2 - i));

    assertThat(result.values()).containsExactly(true);
    assertThat(result.failures())
        .singleElement()
        .matches(e -> SqlFault.of((SQLException) e) == SqlFault.DEADLOCK);
  }

  private static boolean naiveCart(CyclicBarrier gap, int first, int second) throws Exception {
    String take = "UPDATE naive.product SET stock = stock - 1 WHERE id = ?";
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      Sql.execute(connection, take, first);
      gap.await();
      Sql.execute(connection, take, second);
      connection.commit();
      return true;
    }
  }

  private static Hold changed(Sale sale, Hold cart, Line... lines) {
    ChangeResult result = sale.ask(sale.change(cart.id(), lines));
    assertThat(result).isInstanceOf(Granted.class);
    return ((Granted) result).hold();
  }

  private static List<Integer> unitsOf(Hold hold) {
    return hold.lines().stream().flatMap(line -> line.units().stream()).toList();
  }
}
