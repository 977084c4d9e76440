package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.SerializationConflict;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldIdReused;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** G3 for holds: the same id and the same content have one effect and the same answer. */
class AcquireIsIdempotentTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final int TWINS = 20;

  @ParameterizedTest
  @EnumSource(Door.class)
  void twinsAtOneNodeHaveOneEffectAndOneAnswer(Door door) throws Exception {
    Sale sale = fixture.saleWithLimit(5);
    Acquire command = sale.acquire("buyer", Line.of(sale.units(10), 2));

    assertOneEffect(
        sale,
        Race.<AcquireResult>of(TWINS)
            .run(i -> sale.ask(door, sale.node(), command))
            .valuesOrThrow());
  }

  @Test
  void twinsAtTwoNodesAndBothDoorsHaveOneEffectAndOneAnswer() throws Exception {
    Sale sale = fixture.saleWithLimit(5);
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    PoolId pool = sale.units(100);
    for (int round = 0; round < 10; round++) {
      Acquire command = sale.acquire("buyer-" + round, Line.of(pool, 2));

      assertOneEffect(
          sale,
          Race.<AcquireResult>of(TWINS)
              .run(i -> sale.ask(Door.of(i / 2), nodes.get(i % 2), command))
              .valuesOrThrow());
    }
    assertThat(sale.counts(pool).held()).isEqualTo(20);
  }

  private static void assertOneEffect(Sale sale, List<AcquireResult> results) {
    assertThat(results).hasSize(TWINS).hasOnlyElementsOfType(Granted.class);
    List<Granted> granted = results.stream().map(Granted.class::cast).toList();
    assertThat(granted).filteredOn(grant -> !grant.replayed()).hasSize(1);
    Hold hold = granted.get(0).hold();
    assertThat(granted).allMatch(grant -> grant.hold().equals(hold));
    assertThat(sale.find(hold.id())).isEqualTo(hold);
  }

  @Test
  void theSameIdForAnotherBuyerOrOtherLinesIsRefused() {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(10);
    PoolId other = sale.counted(10);
    Hold hold = sale.hold("alice", Line.of(pool, 2));
    List<String> before = sale.everything();

    for (Acquire command :
        List.of(
            sale.acquire(hold.id(), "bob", Line.of(pool, 2)),
            sale.acquire(hold.id(), "alice", Line.of(pool, 3)),
            sale.acquire(hold.id(), "alice", Line.of(other, 2)),
            sale.acquire(hold.id(), "alice", Line.units(pool, List.of(0, 1))),
            sale.acquire(hold.id(), "alice", Line.of(pool, 2), Line.of(other, 1)))) {
      assertThat(sale.ask(command)).isEqualTo(new HoldIdReused(hold.id()));
      assertThat(sale.run(command)).isEqualTo(new HoldIdReused(hold.id()));
    }
    assertThat(sale.everything()).isEqualTo(before);
  }

  @Test
  void theSameRequestWrittenDifferentlyIsTheSame() {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(10);
    PoolId other = sale.counted(10);
    Hold hold =
        sale.hold("alice", Line.units(pool, List.of(1, 2)), Line.of(other, 1), Line.of(other, 2));

    AcquireResult again =
        sale.ask(
            sale.acquire(hold.id(), "alice", Line.of(other, 3), Line.units(pool, List.of(2, 1))));

    assertThat(again).isEqualTo(new Granted(hold, true));
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void afterAChangeAnExtensionAndAnEndTheAnswerIsTheHoldAsItStands(Door door) {
    Sale sale = fixture.saleWithLimit(3);
    PoolId pool = sale.units(3);
    Acquire command = sale.acquire("buyer", Line.of(pool, 2));
    sale.ask(command);

    for (HoldCommand<?> step :
        List.of(
            sale.change(command.hold(), Line.of(pool, 3)),
            sale.extend(command.hold(), Duration.ofHours(1)),
            sale.confirm(command.hold()))) {
      sale.ask(step);
      Hold now = sale.find(command.hold());
      assertThat(sale.ask(door, sale.node(), command)).isEqualTo(new Granted(now, true));
    }
  }

  @Test
  void anExpiredHoldIsNotTakenAgainByItsOwnAcquire() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);
    Acquire command = sale.acquire("buyer", Line.of(pool, 1));
    Hold hold = ((Granted) sale.ask(command)).hold();
    Expire.now(database, hold);

    AcquireResult again = sale.ask(command);

    assertThat(again).isEqualTo(new Granted(sale.find(hold.id()), true));
    assertThat(sale.find(hold.id()).state()).isEqualTo(HoldState.EXPIRED);
    assertThat(sale.counts(pool).free()).isEqualTo(1);
  }

  /** The clock of the database counts microseconds; an answer must not promise more. */
  @Test
  void theFirstAnswerAndItsReplayAreTheSameToTheNanosecond() {
    Sale sale = fixture.sale();
    Acquire odd =
        Acquire.of(
            sale.scope(),
            HoldId.next(),
            new BuyerId("buyer"),
            List.of(Line.of(sale.counted(1), 1)),
            Duration.ofSeconds(900, 123_456_789));

    Granted first = (Granted) sale.ask(odd);
    Granted again = (Granted) sale.ask(odd);
    Granted extended =
        (Granted) sale.ask(sale.extend(odd.hold(), Duration.ofSeconds(1_000, 987_654_321)));

    assertThat(again.hold()).isEqualTo(first.hold());
    assertThat(sale.find(odd.hold())).isEqualTo(extended.hold());
  }

  /**
   * Two callers with plain connections: the second finds no hold, waits for the pool, and then the
   * hold is there. It is told to try again, and even if it ignores that, nothing of its attempt can
   * be committed.
   */
  @Test
  void aTwinThatLosesOnAPlainConnectionIsToldToTryAgainAndCannotCommitWhatItWrote()
      throws Exception {
    Sale sale = fixture.saleWithLimit(5);
    PoolId pool = sale.units(10);
    Acquire command = sale.acquire("buyer", Line.of(pool, 2));

    try (Connection first = begin();
        Connection second = begin()) {
      sale.node().run(first, command);
      Background<AcquireResult> twin = Background.start(() -> sale.node().run(second, command));
      Await.blocked(database, 1);
      first.commit();

      assertThatThrownBy(twin::result).isInstanceOf(SerializationConflict.class);
      // The server has failed the transaction, so this rolls back, whatever the driver says.
      second.commit();
    }
    assertThat(sale.audit(pool)).hasSize(1);
    assertThat(sale.ask(command)).isEqualTo(new Granted(sale.find(command.hold()), true));
  }

  /** Every batch names it in place of a hold, and would lock it. */
  @Test
  void theIdThatStandsForNoHoldIsNotTaken() {
    BuyerId alice = new BuyerId("alice");
    assertThatThrownBy(
            () ->
                Acquire.of(
                    new ScopeId(1),
                    new HoldId(new UUID(0, 0)),
                    alice,
                    List.of(Line.of(new PoolId(1), 1)),
                    Duration.ofMinutes(1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anIdMadeFromAKeyIsTheSameEverywhereAndDiffersByOwnerAndKey() {
    BuyerId alice = new BuyerId("alice");

    HoldId id = HoldId.forKey(alice, "key-1");

    // SHA-256 of 00000005 "alice" "key-1", with the version and the variant of a UUID 8.
    assertThat(id).isEqualTo(HoldId.of("11715cec-a62c-8911-b089-98f99b648954"));
    assertThat(id.value().version()).isEqualTo(8);
    assertThat(id.value().variant()).isEqualTo(2);
    assertThat(HoldId.forKey(alice, "key-2")).isNotEqualTo(id);
    assertThat(HoldId.forKey(new BuyerId("alicek"), "ey-1")).isNotEqualTo(id);
  }

  @Test
  void newIdsAreOrderedByTime() {
    HoldId id = HoldId.next();

    assertThat(id.value().version()).isEqualTo(7);
    assertThat(id.value().variant()).isEqualTo(2);
    assertThat(id.value().getMostSignificantBits() >>> 16)
        .isLessThanOrEqualTo(System.currentTimeMillis());
  }

  @Test
  void aRefusalIsNotRemembered() {
    Sale sale = fixture.sale(OptionalInt.of(1), HoldsConfig.DEFAULT);
    PoolId pool = sale.counted(1);
    Hold first = sale.hold("first", Line.of(pool, 1));
    Acquire command = sale.acquire("second", Line.of(pool, 1));
    assertThat(sale.ask(command)).isInstanceOf(HoldOutcome.SoldOut.class);

    sale.ask(sale.release(first.id()));

    assertThat(((Granted) sale.ask(command)).replayed()).isFalse();
  }

  @Test
  void naiveKeyRememberedBesideTheTransactionBuysTwice() throws Exception {
    NaiveSale naive = new NaiveSale(database, 10);
    Set<String> seen = ConcurrentHashMap.newKeySet();
    CyclicBarrier bothHaveLooked = new CyclicBarrier(2);

    Race.<Boolean>of(2)
        .run(i -> naive.rememberKeyAfterwards(seen, "key", bothHaveLooked))
        .valuesOrThrow();

    assertThat(naive.purchases()).as("purchases with one key").isEqualTo(2);
  }

  private static Connection begin() throws SQLException {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    return connection;
  }
}
