package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.hold.Hold.End;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.ExtensionLimit;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldEnded;
import dev.lockstep.hold.HoldOutcome.LifetimeReached;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** G5: a hold is sold, released or expires, one of them and once. */
class HoldEndsOnceTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  @Test
  void ofConfirmReleaseAndExpiryOneWinsAndAllOthersAreToldHowItEnded() throws Exception {
    Sale sale = fixture.saleWithLimit(10);
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    PoolId things = sale.counted(100);
    PoolId seats = sale.units(100);
    for (int round = 0; round < 40; round++) {
      Hold hold = sale.hold("buyer-" + round, Line.of(things, 1), Line.of(seats, 2));

      List<Optional<HoldEndResult>> told =
          Race.<Optional<HoldEndResult>>of(9)
              .run(i -> end(sale, nodes.get(i % 2), Door.of(i / 2), hold, i))
              .valuesOrThrow();

      assertOneEnd(sale.find(hold.id()), told.stream().flatMap(Optional::stream).toList());
    }
  }

  /** The ninth makes it expire, and sweeps; of the others half confirm and half release. */
  private static Optional<HoldEndResult> end(Sale sale, Holds node, Door door, Hold hold, int i) {
    if (i == 8) {
      Expire.now(database, hold);
      node.sweep();
      return Optional.empty();
    }
    var command = i % 4 < 2 ? sale.confirm(hold.id()) : sale.release(hold.id());
    return Optional.of(sale.ask(door, node, command));
  }

  private static void assertOneEnd(Hold ended, List<HoldEndResult> told) {
    int winners = 0;
    for (HoldEndResult result : told) {
      if (result instanceof Ended end) {
        assertThat(end.hold()).isEqualTo(ended);
        winners += end.replayed() ? 0 : 1;
      } else {
        assertThat(result).isEqualTo(new HoldEnded(ended));
      }
    }
    assertThat(winners).isEqualTo(ended.state() == HoldState.EXPIRED ? 0 : 1);
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void confirmingOrReleasingAgainIsReplayedAndChangesNothing(Door door) {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(5);
    Hold sold = sale.hold("buyer", Line.of(pool, 2));
    Hold released = sale.hold("buyer", Line.of(pool, 1));
    HoldEndResult first = sale.ask(door, sale.node(), sale.confirm(sold.id()));
    HoldEndResult second = sale.ask(door, sale.node(), sale.release(released.id()));
    List<String> before = sale.everything();

    HoldEndResult firstAgain = sale.ask(door, sale.node(), sale.confirm(sold.id()));
    HoldEndResult secondAgain = sale.ask(door, sale.node(), sale.release(released.id()));

    List<PoolCounts> counts = List.of(new PoolCounts(pool, 5, 0, 2));
    assertThat(first)
        .isEqualTo(new Ended(sale.find(sold.id()), false, List.of(new PoolCounts(pool, 5, 1, 2))));
    assertThat(second).isEqualTo(new Ended(sale.find(released.id()), false, counts));
    assertThat(firstAgain).isEqualTo(new Ended(sale.find(sold.id()), true, counts));
    assertThat(secondAgain).isEqualTo(new Ended(sale.find(released.id()), true, counts));
    assertThat(sale.everything()).isEqualTo(before);
  }

  @Test
  void whoComesTooLateIsToldHowWhenAndByWhomItEnded() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(5);
    Hold hold = sale.hold("alice", Line.of(pool, 1));
    HoldEndResult released =
        sale.ask(
            new HoldCommand.Release(sale.scope(), hold.id(), Actor.buyer(new BuyerId("alice"))));
    End end = ((Ended) released).hold().end().orElseThrow();

    HoldEndResult confirmed = sale.ask(sale.confirm(hold.id()));

    Hold now = ((HoldEnded) confirmed).hold();
    assertThat(now.state()).isEqualTo(HoldState.RELEASED);
    assertThat(now.end()).contains(new End(end.at(), "alice"));
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void anExpiredHoldCannotBeConfirmedEvenBeforeAnySweep(Door door) {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(1);
    Hold hold = sale.hold("buyer", Line.of(pool, 1));
    Expire.now(database, hold);

    HoldEndResult result = sale.ask(door, sale.node(), sale.confirm(hold.id()));

    assertThat(result).isEqualTo(new HoldEnded(sale.find(hold.id())));
    assertThat(sale.find(hold.id()).state()).isEqualTo(HoldState.EXPIRED);
    assertThat(sale.counts(pool)).isEqualTo(new PoolCounts(pool, 1, 0, 0));
  }

  @Test
  void anEndedHoldCanNeitherBeChangedNorExtended() {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(10);
    Hold sold = sale.hold("buyer", Line.of(pool, 1));
    Hold released = sale.hold("buyer", Line.of(pool, 1));
    Hold expired = sale.hold("buyer", Line.of(pool, 1));
    sale.ask(sale.confirm(sold.id()));
    sale.ask(sale.release(released.id()));
    Expire.now(database, expired);

    for (Hold hold : List.of(sold, released, expired)) {
      HoldChangeResult changed = sale.ask(sale.change(hold.id(), Line.of(pool, 2)));
      ExtendResult extended = sale.ask(sale.extend(hold.id(), Sale.HOLD_FOR));

      Hold ended = sale.find(hold.id());
      assertThat(changed).isEqualTo(new HoldEnded(ended));
      assertThat(extended).isEqualTo(new HoldEnded(ended));
    }
    assertThat(sale.counts(pool)).isEqualTo(new PoolCounts(pool, 10, 0, 1));
  }

  @Test
  void aHoldIsExtendedUpToItsLifetimeAndNotBeyond() {
    Sale sale =
        fixture.sale(
            HoldsConfig.DEFAULT
                .withMaxHoldFor(Duration.ofHours(1))
                .withMaxLifetime(Duration.ofMinutes(90)));
    PoolId pool = sale.counted(1);
    Hold hold = sale.hold("buyer", Line.of(pool, 1));

    ExtendResult extended = sale.ask(sale.extend(hold.id(), Duration.ofHours(1)));
    assertThat(((Granted) extended).hold().expiresAt()).isAfter(hold.expiresAt());
    database.execute(
        "UPDATE lockstep.hold SET created_at = created_at - interval '80 minutes' WHERE hold = '%s'"
            .formatted(hold.id()));
    database.execute(
        "UPDATE lockstep.hold SET expires_at = now() + interval '1 minute' WHERE hold = '%s'"
            .formatted(hold.id()));
    ExtendResult clipped = sale.ask(sale.extend(hold.id(), Duration.ofHours(1)));
    ExtendResult refused = sale.ask(sale.extend(hold.id(), Duration.ofHours(1)));

    Hold last = sale.find(hold.id());
    assertThat(last.expiresAt()).isEqualTo(last.createdAt().plus(Duration.ofMinutes(90)));
    assertThat(clipped).isEqualTo(new Granted(last, false));
    assertThat(refused).isEqualTo(new LifetimeReached(last, last.expiresAt()));
  }

  @Test
  void underABoundAHoldIsExtendedAsOftenAndAsFarAsItSaysHoweverManyAskAtOnce() throws Exception {
    Sale sale = fixture.sale();
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    Hold hold = sale.hold("buyer", Line.of(sale.counted(1), 1));
    ExtensionBound bound =
        new ExtensionBound(2, Sale.HOLD_FOR.multipliedBy(2), Duration.ofHours(24));

    List<ExtendResult> results =
        Race.<ExtendResult>of(12)
            .run(
                i ->
                    sale.ask(
                        Door.of(i / 2),
                        nodes.get(i % 2),
                        bounded(sale, hold, Sale.HOLD_FOR.plusSeconds(1 + i), bound)))
            .valuesOrThrow();

    Hold last = sale.find(hold.id());
    assertThat(last.extensions()).isBetween(1, 2);
    assertThat(results.stream().filter(HoldEndsOnceTest::extended).count())
        .isEqualTo(last.extensions());
    assertThat(sale.ask(sale.extend(hold.id(), Sale.HOLD_FOR.multipliedBy(3))))
        .as("without a bound it is not counted, nor refused")
        .isInstanceOfSatisfying(
            Granted.class,
            granted -> assertThat(granted.hold().extensions()).isEqualTo(last.extensions()));
  }

  @Test
  void whatABoundRefusesChangesNothing() {
    Sale sale = fixture.sale();
    Hold hold = sale.hold("buyer", Line.of(sale.counted(1), 1));
    Duration longer = Sale.HOLD_FOR.multipliedBy(2);
    ExtensionBound once = new ExtensionBound(1, longer, Sale.HOLD_FOR.multipliedBy(4));
    ExtensionBound never = new ExtensionBound(0, longer, Sale.HOLD_FOR.multipliedBy(4));
    ExtensionBound whole = new ExtensionBound(9, longer, Sale.HOLD_FOR);

    assertThat(sale.ask(bounded(sale, hold, longer, never)))
        .isEqualTo(new ExtensionLimit(hold, never));
    assertThat(sale.ask(bounded(sale, hold, longer.plusSeconds(1), once)))
        .as("for longer than at once")
        .isEqualTo(new ExtensionLimit(hold, once));
    assertThat(sale.ask(bounded(sale, hold, longer, whole)))
        .isEqualTo(new LifetimeReached(hold, hold.expiresAt()));
    assertThat(sale.find(hold.id())).isEqualTo(hold);

    Granted extended = (Granted) sale.ask(bounded(sale, hold, longer, once));
    assertThat(extended.hold().extensions()).isEqualTo(1);
    List<String> before = sale.everything();
    assertThat(sale.ask(bounded(sale, hold, Duration.ofSeconds(1), once)))
        .as("asked for less than it has")
        .isEqualTo(new Granted(extended.hold(), true));
    assertThat(
            sale.ask(
                sale.change(
                    hold.id(),
                    hold.lines().stream()
                        .map(line -> Line.of(line.pool(), line.quantity()))
                        .toArray(Line[]::new))))
        .isInstanceOfSatisfying(
            Granted.class, granted -> assertThat(granted.hold()).isEqualTo(extended.hold()));
    assertThat(sale.everything()).isEqualTo(before);
  }

  private static boolean extended(ExtendResult result) {
    return result instanceof Granted granted && !granted.replayed();
  }

  private static HoldCommand.Extend bounded(
      Sale sale, Hold hold, Duration holdFor, ExtensionBound bound) {
    return new HoldCommand.Extend(
        sale.scope(), hold.id(), holdFor, Actor.buyer(hold.buyer()), Optional.of(bound));
  }

  @Test
  void extendingNeverShortens() {
    Sale sale = fixture.sale();
    Hold hold = sale.hold("buyer", Line.of(sale.counted(1), 1));
    List<String> before = sale.everything();

    ExtendResult result = sale.ask(sale.extend(hold.id(), Duration.ofSeconds(1)));

    assertThat(result).isEqualTo(new Granted(hold, true));
    assertThat(sale.everything()).isEqualTo(before);
  }

  /** E19: nothing in it says that a cart is checked out only once. */
  @Test
  void naiveCheckoutOfOneCartTwiceSucceedsTwice() throws Exception {
    NaiveCheckout naive = new NaiveCheckout(database, 10);
    naive.reserve("cart", 4);

    Background<Boolean> second;
    try (Connection first = naive.begin()) {
      naive.checkout(first, "cart");
      second =
          Background.start(
              () -> {
                try (Connection connection = naive.begin()) {
                  naive.checkout(connection, "cart");
                  connection.commit();
                  return true;
                }
              });
      Await.blocked(database, 1);
      first.commit();
    }

    assertThat(second.result()).isTrue();
    assertThat(naive.orders()).as("orders for one cart").isEqualTo(2);
    assertThat(naive.stock()).as("10 less one cart of 4").isEqualTo(2);
  }

  /** The document's shopping cart. */
  private record NaiveCheckout(TestDatabase database) {
    NaiveCheckout(TestDatabase database, int stock) {
      this(database);
      database.execute(
          """
          DROP SCHEMA IF EXISTS naive CASCADE;
          CREATE SCHEMA naive;
          CREATE TABLE naive.product (id int PRIMARY KEY, stock int NOT NULL);
          CREATE TABLE naive.reservation (product int, cart text, quantity int, expires_at timestamptz);
          CREATE TABLE naive.placed_order (id serial, cart text);
          """);
      database.execute("INSERT INTO naive.product VALUES (1, " + stock + ")");
    }

    void reserve(String cart, int quantity) {
      database.execute(
          "INSERT INTO naive.reservation VALUES (1, '%s', %d, now() + interval '15 minutes')"
              .formatted(cart, quantity));
    }

    void checkout(Connection connection, String cart) throws SQLException {
      long expired =
          Sql.query(
              connection,
              "SELECT count(*) FROM naive.reservation WHERE cart = ? AND expires_at < now()",
              cart);
      if (expired > 0) {
        throw new IllegalStateException("Some reservations have expired");
      }
      Sql.execute(connection, "INSERT INTO naive.placed_order (cart) VALUES (?)", cart);
      Sql.execute(
          connection,
          "UPDATE naive.product p SET stock = stock - r.quantity FROM naive.reservation r"
              + " WHERE r.product = p.id AND r.cart = ?",
          cart);
      Sql.execute(connection, "DELETE FROM naive.reservation WHERE cart = ?", cart);
    }

    Connection begin() throws SQLException {
      Connection connection = database.connection();
      connection.setAutoCommit(false);
      return connection;
    }

    long orders() {
      return database.queryLong("SELECT count(*) FROM naive.placed_order");
    }

    long stock() {
      return database.queryLong("SELECT stock FROM naive.product");
    }
  }
}
