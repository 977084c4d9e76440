package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.combine.Door;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.Paused;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A paused pool gives nothing out, from the next decision on, and keeps what it has promised. */
class PausedPoolTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  @ParameterizedTest
  @EnumSource(Door.class)
  void aPausedPoolGivesNothingAndSaysWhyUntilItIsResumed(Door door) {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(5);
    PoolId open = sale.counted(5);
    sale.node().pause(sale.scope(), pool, "stocktaking");
    List<String> before = sale.everything();

    AcquireResult whole =
        sale.ask(door, sale.node(), sale.acquire("buyer", Line.of(open, 1), Line.of(pool, 1)));

    assertThat(whole).isEqualTo(new Paused(pool, "stocktaking"));
    assertThat(sale.everything()).isEqualTo(before);
    assertThat(sale.node().resume(sale.scope(), pool)).isTrue();
    assertThat(sale.ask(door, sale.node(), sale.acquire("buyer", Line.of(pool, 1))))
        .isInstanceOf(Granted.class);
  }

  /** One buys, behind it waits the pause, behind that waits another who buys. */
  @Test
  void aPauseIsInForceForEveryDecisionAfterTheOneUnderWay() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(5);
    Background<Boolean> pause;
    CompletableFuture<AcquireResult> late;
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      sale.node().join(connection, sale.acquire("early", Line.of(pool, 1)));
      pause = Background.start(() -> sale.node().pause(sale.scope(), pool, "recall"));
      Await.blocked(database, 1);
      late = sale.node().submit(sale.acquire("late", Line.of(pool, 1))).toCompletableFuture();
      Await.blocked(database, 2);
      connection.commit();
    }

    assertThat(pause.result()).isTrue();
    // Of two that wait for a row PostgreSQL may let either go first: the late one was decided, or
    // refused by the pause. Whoever asks now comes after both.
    AcquireResult decided = Door.await(late);
    boolean before = decided instanceof Granted;
    assertThat(before || decided.equals(new Paused(pool, "recall"))).isTrue();
    assertThat(sale.ask(sale.acquire("last", Line.of(pool, 1))))
        .isEqualTo(new Paused(pool, "recall"));
    assertThat(sale.counts(pool).held()).isEqualTo(before ? 2 : 1);
  }

  @Test
  void whatIsHeldCanStillBeConfirmedReleasedExtendedAndReduced() {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(10);
    Hold sold = sale.hold("buyer", Line.of(pool, 1));
    Hold released = sale.hold("buyer", Line.of(pool, 1));
    Hold extended = sale.hold("buyer", Line.of(pool, 1));
    Hold reduced = sale.hold("buyer", Line.of(pool, 3));
    Hold expired = sale.hold("buyer", Line.of(pool, 1));
    sale.node().pause(sale.scope(), pool, "recall");
    Expire.now(database, expired);

    assertThat(sale.ask(sale.confirm(sold.id()))).isInstanceOf(Ended.class);
    assertThat(sale.ask(sale.release(released.id()))).isInstanceOf(Ended.class);
    assertThat(sale.ask(sale.extend(extended.id(), Duration.ofHours(2))))
        .isInstanceOf(Granted.class);
    assertThat(sale.ask(sale.change(reduced.id(), Line.of(pool, 2)))).isInstanceOf(Granted.class);
    assertThat(sale.counts(pool)).isEqualTo(new PoolCounts(pool, 10, 3, 1));
    assertThat(sale.find(expired.id()).state()).isEqualTo(HoldState.EXPIRED);
  }

  @Test
  void aChangeThatWouldTakeFromAPausedPoolIsRefused() {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(10);
    PoolId open = sale.counted(10);
    Hold cart = sale.hold("buyer", Line.units(pool, List.of(1, 2)), Line.of(open, 1));
    sale.node().pause(sale.scope(), pool, "recall");
    List<String> before = sale.everything();

    for (Line more :
        List.of(
            Line.of(pool, 3),
            Line.units(pool, List.of(1, 3)),
            Line.units(pool, List.of(1, 2, 3)))) {
      assertThat(sale.ask(sale.change(cart.id(), more))).isEqualTo(new Paused(pool, "recall"));
    }

    assertThat(sale.everything()).isEqualTo(before);
    assertThat(sale.ask(sale.change(cart.id(), Line.units(pool, List.of(2)), Line.of(open, 9))))
        .isInstanceOf(Granted.class);
  }

  @Test
  void pausingNeedsAReasonAndAPoolAndTheLastReasonCounts() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);

    assertThatThrownBy(() -> sale.node().pause(sale.scope(), pool, " "))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(sale.node().pause(sale.scope(), new PoolId(99), "none")).isFalse();
    assertThat(sale.node().resume(sale.scope(), new PoolId(99))).isFalse();
    sale.node().pause(sale.scope(), pool, "first");
    sale.node().pause(sale.scope(), pool, "second");
    assertThat(sale.node().pools(sale.scope()))
        .extracting(Pool::pauseReason)
        .containsExactly(Optional.of("second"));
  }

  @Test
  void theDatabaseItselfRefusesAPauseWithoutAReason() throws SQLException {
    Sale sale = fixture.sale();
    sale.counted(1);

    assertThat(Refused.statement(database, "UPDATE lockstep.pool SET paused = true").getSQLState())
        .isEqualTo("23514");
  }
}
