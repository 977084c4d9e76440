package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldOutcome.HoldEnded;
import dev.lockstep.hold.HoldOutcome.NotYours;
import dev.lockstep.hold.HoldOutcome.Shortage;
import dev.lockstep.hold.HoldOutcome.SoldOut;
import dev.lockstep.hold.HoldOutcome.UnknownHold;
import dev.lockstep.hold.HoldOutcome.UnknownPool;
import dev.lockstep.hold.HoldOutcome.UnknownUnit;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever is wrong is refused precisely, and nothing in the database has changed. */
class BadInputTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final String EVERY_ROW =
      """
      SELECT 'scope' || t::text FROM lockstep.scope t UNION ALL
      SELECT 'pool' || t::text FROM lockstep.pool t UNION ALL
      SELECT 'unit' || t::text FROM lockstep.unit t UNION ALL
      SELECT 'hold' || t::text FROM lockstep.hold t UNION ALL
      SELECT 'quota' || t::text FROM lockstep.quota t UNION ALL
      SELECT 'audit' || t::text FROM lockstep.stock_audit t ORDER BY 1""";

  private Sale sale;
  private PoolId counted;
  private PoolId seats;
  private Hold hold;
  private List<String> before;

  @BeforeEach
  void aSaleWithAHold() {
    sale = fixture.saleWithLimit(50_000);
    counted = sale.counted(10);
    seats = sale.units(10);
    hold = sale.hold("alice", Line.of(counted, 1), Line.of(seats, 1));
    before = everyRow();
  }

  @AfterEach
  void nothingHasChanged() {
    assertThat(everyRow()).isEqualTo(before);
  }

  private static List<String> everyRow() {
    return database.query(EVERY_ROW, row -> row.getString(1));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, Integer.MIN_VALUE, Line.MAX_QUANTITY + 1, Integer.MAX_VALUE})
  void aQuantityOutOfRangeIsNoLine(int quantity) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Line.of(counted, quantity))
        .withMessageContaining(String.valueOf(quantity));
  }

  @Test
  void theLargestQuantityIsALineAndSimplyNotThere() {
    assertThat(sale.ask(sale.acquire("bob", Line.of(counted, Line.MAX_QUANTITY))))
        .isEqualTo(new SoldOut(List.of(new Shortage(counted, Line.MAX_QUANTITY, 9))));
  }

  @Test
  void linesThatSumToMoreThanALineMayHaveAreNoCart() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> sale.acquire("bob", Line.of(counted, Line.MAX_QUANTITY), Line.of(counted, 1)));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 101, 10_000})
  void aCartHasOneToAHundredLines(int count) {
    Line[] lines = Collections.nCopies(count, Line.of(counted, 1)).toArray(Line[]::new);

    assertThatIllegalArgumentException().isThrownBy(() -> sale.acquire("bob", lines));
    assertThatIllegalArgumentException().isThrownBy(() -> sale.change(hold.id(), lines));
  }

  @Test
  void aHundredLinesOfPoolsThatAreNotThereAreACart() {
    Line[] lines =
        IntStream.range(0, 100)
            .mapToObj(i -> Line.of(new PoolId(1_000 + i), Line.MAX_QUANTITY))
            .toArray(Line[]::new);

    assertThat(sale.ask(sale.acquire("bob", lines))).isEqualTo(new UnknownPool(new PoolId(1_000)));
  }

  @Test
  void aUnitNamedTwiceOrNotCountedIsNoLine() {
    assertThatIllegalArgumentException().isThrownBy(() -> Line.units(seats, List.of(1, 1)));
    assertThatIllegalArgumentException().isThrownBy(() -> Line.units(seats, List.of()));
    assertThatIllegalArgumentException().isThrownBy(() -> new Line(seats, 2, List.of(1)));
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                sale.acquire("bob", Line.units(seats, List.of(1)), Line.units(seats, List.of(1))));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> sale.acquire("bob", Line.units(seats, List.of(1)), Line.of(seats, 1)));
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 10, Integer.MAX_VALUE, Integer.MIN_VALUE})
  void aUnitThatThePoolDoesNotHaveIsUnknown(int unit) {
    Line line = Line.units(seats, List.of(unit));

    assertThat(sale.ask(sale.acquire("bob", line))).isEqualTo(new UnknownUnit(seats, unit));
    assertThat(sale.run(sale.change(hold.id(), line))).isEqualTo(new UnknownUnit(seats, unit));
  }

  @Test
  void aCountedPoolHasNoUnits() {
    assertThat(sale.ask(sale.acquire("bob", Line.units(counted, List.of(0)))))
        .isEqualTo(new UnknownUnit(counted, 0));
  }

  @ParameterizedTest
  @ValueSource(longs = {99, 0, -1, Long.MIN_VALUE, Long.MAX_VALUE})
  void anUnknownPoolIsNamed(long pool) {
    Line line = Line.of(new PoolId(pool), 1);

    assertThat(sale.ask(sale.acquire("bob", line))).isEqualTo(new UnknownPool(new PoolId(pool)));
    assertThat(sale.run(sale.change(hold.id(), Line.of(counted, 1), line)))
        .isEqualTo(new UnknownPool(new PoolId(pool)));
  }

  @Test
  void anUnknownScopeHasNoPoolsAndNoHolds() {
    ScopeId nowhere = new ScopeId(-7);
    Acquire acquire =
        Acquire.of(
            nowhere,
            HoldId.next(),
            new BuyerId("bob"),
            List.of(Line.of(counted, 1)),
            Sale.HOLD_FOR);

    assertThat(sale.ask(acquire)).isEqualTo(new UnknownPool(counted));
    assertThat(sale.run(acquire)).isEqualTo(new UnknownPool(counted));
    assertThat(sale.ask(new HoldCommand.Confirm(nowhere, hold.id(), Sale.CLERK)))
        .isEqualTo(new UnknownHold(hold.id()));
    assertThat(sale.node().pools(nowhere)).isEmpty();
    assertThat(sale.node().find(nowhere, hold.id())).isEmpty();
    assertThat(sale.node().setBuyerLimit(nowhere, 3)).isFalse();
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> sale.node().createPools(nowhere, List.of(NewPool.counted(new PoolId(1), 1))));
  }

  @Test
  void anUnknownHoldIsNamed() {
    HoldId unknown = HoldId.next();

    for (HoldCommand<?> command :
        List.of(
            sale.change(unknown, Line.of(counted, 1)),
            sale.extend(unknown, Sale.HOLD_FOR),
            sale.confirm(unknown),
            sale.release(unknown))) {
      assertThat((HoldOutcome) sale.ask(command)).isEqualTo(new UnknownHold(unknown));
    }
  }

  @Test
  void aForeignBuyerTouchesNothing() {
    Actor bob = Actor.buyer(new BuyerId("bob"));
    ScopeId scope = sale.scope();

    for (HoldCommand<?> command :
        List.of(
            new HoldCommand.Change(scope, hold.id(), List.of(Line.of(counted, 1)), bob),
            new HoldCommand.Extend(scope, hold.id(), Sale.HOLD_FOR, bob),
            new HoldCommand.Confirm(scope, hold.id(), bob),
            new HoldCommand.Release(scope, hold.id(), bob))) {
      assertThat((HoldOutcome) sale.ask(command)).isEqualTo(new NotYours(hold.id()));
    }
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new Acquire(
                    scope,
                    HoldId.next(),
                    new BuyerId("alice"),
                    List.of(Line.of(counted, 1)),
                    Sale.HOLD_FOR,
                    bob));
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT-1S", "PT0.999999999S", "PT24H0.000000001S", "P36500D"})
  void aTimeOutOfRangeIsRefusedAtBothDoors(String text) {
    Duration holdFor = Duration.parse(text);

    assertThatIllegalArgumentException().isThrownBy(() -> sale.ask(acquireFor(holdFor)));
    assertThatIllegalArgumentException().isThrownBy(() -> sale.run(acquireFor(holdFor)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> sale.ask(sale.extend(hold.id(), holdFor)));
  }

  private Acquire acquireFor(Duration holdFor) {
    return Acquire.of(
        sale.scope(), HoldId.next(), new BuyerId("bob"), List.of(Line.of(counted, 1)), holdFor);
  }

  @Test
  void namesAreOneToTwoHundredCharactersOfText() {
    for (String bad : List.of("", " ", "x".repeat(201), "nul\0", "half a pair \ud83d")) {
      assertThatIllegalArgumentException().isThrownBy(() -> new BuyerId(bad));
      assertThatIllegalArgumentException().isThrownBy(() -> Actor.operator(bad));
    }
  }

  @Test
  void whoAsksOnAConnectionInAutoCommitIsToldToBegin() throws SQLException {
    try (Connection connection = database.connection()) {
      assertThatThrownBy(() -> sale.node().join(connection, sale.confirm(hold.id())))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void poolsAndScopesOutOfRangeOrTwiceAreRefusedAsAWhole() {
    assertThatIllegalArgumentException().isThrownBy(() -> NewPool.counted(counted, -1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> NewPool.counted(counted, NewPool.MAX_TOTAL + 1));
    assertThatIllegalArgumentException().isThrownBy(() -> UnitShuffle.seeded(new byte[15]));
    assertThatThrownBy(
            () ->
                sale.node()
                    .createPools(
                        sale.scope(),
                        List.of(
                            NewPool.ofUnits(new PoolId(50), 100, Sale.SHUFFLE),
                            NewPool.counted(counted, 1))))
        .isInstanceOf(ConstraintViolated.class);
    assertThatThrownBy(() -> sale.node().createScope(sale.scope(), OptionalInt.of(1)))
        .isInstanceOf(ConstraintViolated.class);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> sale.node().createScope(new ScopeId(-1), OptionalInt.of(0)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> sale.node().setBuyerLimit(sale.scope(), 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> sale.node().audit(sale.scope(), counted, 0, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> sale.node().audit(sale.scope(), counted, 0, Holds.MAX_PAGE + 1));
  }

  @Test
  void askingNothingIsAnsweredByNothing() {
    List<HoldOutcome> outcomes =
        sale.transactor().call(connection -> sale.node().joinAll(connection, List.of()));

    assertThat(outcomes).isEmpty();
  }

  /** What came too late ends the hold, and that is all. */
  @Test
  void aBoundOfExtensionsBeyondTenYearsIsRefusedBeforeItReachesABatch() {
    Duration tooLong = Duration.ofDays(365_000_000_000L);
    Duration fine = Duration.ofHours(1);

    assertThatIllegalArgumentException().isThrownBy(() -> new ExtensionBound(1, tooLong, fine));
    assertThatIllegalArgumentException().isThrownBy(() -> new ExtensionBound(1, fine, tooLong));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new ExtensionBound(1, fine, Duration.ofSeconds(-1)));
  }

  @Test
  void anExpiredHoldIsOnlyMarkedExpired() {
    Expire.now(database, hold);

    assertThat(sale.ask(sale.change(hold.id(), Line.of(counted, 5))))
        .isEqualTo(new HoldEnded(sale.find(hold.id())));

    assertThat(sale.counts(counted)).isEqualTo(new PoolCounts(counted, 10, 0, 0));
    before = everyRow();
    assertThat(sale.ask(sale.confirm(hold.id()))).isEqualTo(new HoldEnded(sale.find(hold.id())));
  }
}
