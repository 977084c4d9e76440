package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldsOverloaded;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The outcomes in the order documented at {@link HoldOutcome}. Each row asks for something to which
 * its own outcome applies and, as far as the command can have them, all that come after it.
 */
class OutcomePrecedenceTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  static Stream<Arguments> rows() {
    return Stream.of(
        row("HoldIdReused", w -> w.acquire(w.live.id(), "full", w.everythingWrong())),
        row("UnknownHold", w -> w.sale.change(HoldId.next(), w.everythingWrong())),
        row("UnknownHold", w -> w.sale.extend(HoldId.next(), World.LONG)),
        row("UnknownHold", w -> w.sale.confirm(HoldId.next())),
        row("UnknownHold", w -> w.sale.release(HoldId.next())),
        row("UnknownHold", w -> w.sale.giveBack(HoldId.next())),
        row("NotYours", w -> w.stranger(w.sale.giveBack(w.released.id()))),
        row("NotYours", w -> w.stranger(w.sale.change(w.released.id(), w.everythingWrong()))),
        row("NotYours", w -> w.stranger(w.sale.extend(w.released.id(), World.LONG))),
        row("NotYours", w -> w.stranger(w.sale.confirm(w.sold.id()))),
        row("NotYours", w -> w.stranger(w.sale.confirm(w.released.id()))),
        row("NotYours", w -> w.stranger(w.sale.release(w.released.id()))),
        row("LinesDiffer", w -> w.sale.confirm(w.sold.id(), w.openLine(1))),
        row("LinesDiffer", w -> w.sale.confirm(w.live.id(), w.openLine(2))),
        row("Granted replayed", w -> w.again(w.live)),
        row("Granted replayed", w -> w.again(w.released)),
        row("Ended replayed", w -> w.sale.confirm(w.sold.id())),
        row("Ended replayed", w -> w.sale.release(w.released.id())),
        row("Ended replayed", w -> w.sale.giveBack(w.returned.id())),
        row("HoldEnded", w -> w.sale.confirm(w.returned.id())),
        row("HoldEnded", w -> w.sale.change(w.released.id(), w.everythingWrong())),
        row("HoldEnded", w -> w.sale.extend(w.released.id(), World.LONG)),
        row("HoldEnded", w -> w.sale.confirm(w.released.id())),
        row("HoldEnded", w -> w.sale.confirm(w.released.id(), w.openLine(2))),
        row("HoldEnded", w -> w.sale.release(w.sold.id())),
        row("NotSold", w -> w.sale.giveBack(w.live.id())),
        row("NotSold", w -> w.sale.giveBack(w.released.id())),
        row("UnknownPool", w -> w.acquire("full", w.everythingWrong())),
        row("UnknownPool", w -> w.sale.change(w.live.id(), w.everythingWrong())),
        row("UnknownUnit", w -> w.acquire("full", w.wrongUnit(), w.takenUnit())),
        row("UnknownUnit", w -> w.sale.change(w.live.id(), w.wrongUnit(), w.takenUnit())),
        row("Paused", w -> w.acquire("full", w.pausedLine(), w.takenUnit())),
        row("Paused", w -> w.sale.change(w.live.id(), w.pausedLine(), w.takenUnit())),
        row("LimitReached", w -> w.acquire("full", w.takenUnit())),
        row("LimitReached", w -> w.sale.change(w.live.id(), w.takenUnit(), w.openLine(2))),
        row("SoldOut", w -> w.acquire("new", w.takenUnit())),
        row("SoldOut", w -> w.sale.change(w.live.id(), w.takenUnit())),
        row("LifetimeReached", w -> w.sale.extend(w.old.id(), World.LONG)),
        row("Granted", w -> w.acquire("new", w.openLine(1))),
        row("Granted", w -> w.sale.change(w.live.id(), w.openLine(1))),
        row("Granted", w -> w.sale.extend(w.live.id(), World.LONG)),
        row("Ended", w -> w.sale.confirm(w.live.id())),
        row("Ended", w -> w.sale.confirm(w.live.id(), w.openLine(1))),
        row("Ended", w -> w.sale.release(w.live.id())),
        row("Ended", w -> w.sale.giveBack(w.sold.id())));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void theFirstThatAppliesIsTold(String expected, Function<World, HoldCommand<?>> command) {
    World world = new World(fixture);

    HoldOutcome outcome = world.sale.ask(command.apply(world));

    assertThat(nameOf(outcome)).isEqualTo(expected);
  }

  @Test
  void aFullQueueIsToldBeforeAnythingElseAndWhenToComeAgain() throws Exception {
    Sale sale =
        fixture.sale(
            HoldsConfig.DEFAULT.withCombiner(HoldsConfig.DEFAULT.combiner().withMaxWaiting(1, 1)));
    PoolId pool = sale.counted(9);
    Hold hold = sale.hold("buyer", Line.of(pool, 1));

    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      Sql.query(
          connection,
          "SELECT 1 FROM lockstep.pool WHERE scope = ? FOR UPDATE",
          sale.scope().value());
      CompletableFuture<AcquireResult> running = submit(sale, HoldId.next(), pool);
      Await.blocked(database, 1);
      CompletableFuture<AcquireResult> waiting = submit(sale, HoldId.next(), pool);
      AcquireResult refused = Door.await(submit(sale, hold.id(), pool));
      connection.rollback();

      assertThat(refused).isInstanceOf(HoldsOverloaded.class);
      assertThat(((HoldsOverloaded) refused).retryAfter()).isPositive();
      assertThat(Door.await(running)).isInstanceOf(Granted.class);
      assertThat(Door.await(waiting)).isInstanceOf(Granted.class);
    }
  }

  private static CompletableFuture<AcquireResult> submit(Sale sale, HoldId id, PoolId pool) {
    return sale.node().submit(sale.acquire(id, "another", Line.of(pool, 1))).toCompletableFuture();
  }

  private static Arguments row(String expected, Function<World, HoldCommand<?>> command) {
    return Arguments.of(expected, command);
  }

  private static String nameOf(HoldOutcome outcome) {
    boolean replayed =
        (outcome instanceof Granted granted && granted.replayed())
            || (outcome instanceof Ended ended && ended.replayed());
    return outcome.getClass().getSimpleName() + (replayed ? " replayed" : "");
  }

  /** One of everything that can go wrong. */
  private static final class World {
    static final Duration LONG = Duration.ofHours(24);

    final Sale sale;
    private final PoolId open;
    private final PoolId soldOut;
    private final PoolId paused;

    /** Of a buyer who has reached the limit. */
    final Hold live;

    final Hold sold;
    final Hold released;
    final Hold returned;

    /** Whose lifetime is used up. */
    final Hold old;

    World(HoldFixture fixture) {
      sale = fixture.sale(OptionalInt.of(2), HoldsConfig.DEFAULT);
      open = sale.counted(100);
      soldOut = sale.units(1);
      paused = sale.units(1);
      live = sale.hold("full", Line.of(open, 1));
      sold = sale.hold("full", Line.of(soldOut, 1));
      sale.ask(sale.confirm(sold.id()));
      released = sale.hold("quitter", Line.of(open, 1));
      sale.ask(sale.release(released.id()));
      returned = sale.hold("regretful", Line.of(open, 1));
      sale.ask(sale.confirm(returned.id()));
      sale.ask(sale.giveBack(returned.id()));
      sale.hold("other", Line.of(paused, 1));
      sale.node().pause(sale.scope(), paused, "recall");
      old = sale.hold("patient", Line.of(open, 1));
      database.execute(
          "UPDATE lockstep.hold SET created_at = expires_at - interval '48 hours' WHERE hold = '%s'"
              .formatted(old.id()));
    }

    Acquire acquire(String buyer, Line... lines) {
      return sale.acquire(buyer, lines);
    }

    Acquire acquire(HoldId id, String buyer, Line... lines) {
      return sale.acquire(id, buyer, lines);
    }

    Acquire again(Hold hold) {
      return sale.acquire(hold.id(), hold.buyer().value(), Line.of(open, 1));
    }

    HoldCommand<?> stranger(HoldCommand<?> command) {
      Actor stranger = Actor.buyer(new BuyerId("stranger"));
      if (command instanceof HoldCommand.Change c) {
        return new HoldCommand.Change(c.scope(), c.hold(), c.lines(), stranger);
      }
      if (command instanceof HoldCommand.Extend e) {
        return new HoldCommand.Extend(e.scope(), e.hold(), e.holdFor(), stranger);
      }
      if (command instanceof HoldCommand.Return) {
        return new HoldCommand.Return(command.scope(), command.hold(), stranger);
      }
      return command instanceof HoldCommand.Confirm
          ? new HoldCommand.Confirm(command.scope(), command.hold(), stranger)
          : new HoldCommand.Release(command.scope(), command.hold(), stranger);
    }

    Line[] everythingWrong() {
      return new Line[] {wrongUnit(), takenUnit(), Line.of(new PoolId(99), 1)};
    }

    /** Of the paused pool, which has nothing left. */
    Line wrongUnit() {
      return Line.units(paused, List.of(77));
    }

    Line takenUnit() {
      return Line.units(soldOut, List.of(0));
    }

    Line pausedLine() {
      return Line.of(paused, 1);
    }

    Line openLine(int quantity) {
      return Line.of(open, quantity);
    }
  }
}
