package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldEnded;
import dev.lockstep.hold.HoldOutcome.NotYours;
import dev.lockstep.hold.HoldOutcome.Vetoed;
import dev.lockstep.sql.Exchange;
import dev.lockstep.testkit.TestDatabase;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A companion's refusal is a value of the batch: nobody else pays for it, in whatever order. */
@Timeout(60)
class VetoTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private final Guard guard = new Guard();

  @BeforeEach
  void nothingIsSealed() {
    database.execute("DROP TABLE IF EXISTS seal; CREATE TABLE seal (hold uuid PRIMARY KEY)");
  }

  @Test
  void aSealedHoldIsNeitherChangedNorExtendedNorReleased() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(10);
    HoldId hold = sealed(sale, pool);

    assertThat(asked(sale, sale.release(hold))).isInstanceOf(Vetoed.class);
    assertThat(asked(sale, sale.change(hold, Line.of(pool, 2)))).isInstanceOf(Vetoed.class);
    assertThat(asked(sale, sale.extend(hold, Duration.ofHours(1)))).isInstanceOf(Vetoed.class);
    assertThat(guard.written).hasOnlyElementsOfType(Vetoed.class).hasSize(3);
    assertThat(sale.counts(pool).held()).isEqualTo(1);
    assertThat(sale.ask(sale.confirm(hold))).as("without the companion").isInstanceOf(Ended.class);
    assertThat(asked(sale, sale.release(hold))).isInstanceOf(HoldEnded.class);
  }

  @Test
  void onTheCallersConnectionItIsAskedAsWell() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(10);
    HoldId hold = sealed(sale, pool);

    HoldOutcome outcome =
        sale.transactor().call(c -> sale.node().run(c, sale.release(hold), guard, "x"));

    assertThat(outcome).isInstanceOf(Vetoed.class);
    assertThat(sale.counts(pool).held()).isEqualTo(1);
  }

  @Test
  void whoseHoldItIsComesFirst() {
    Sale sale = fixture.sale();
    HoldId hold = sealed(sale, sale.counted(10));

    HoldCommand.Release foreign =
        new HoldCommand.Release(sale.scope(), hold, Actor.buyer(new BuyerId("mallory")));

    assertThat(asked(sale, foreign)).isInstanceOf(NotYours.class);
  }

  @Test
  void itsRefusalsCostTheOthersOfTheBatchNothing() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(100);
    HoldId sealed = sealed(sale, pool);
    List<HoldId> others = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      others.add(sale.hold("b" + i, Line.of(pool, 1)).id());
    }
    int before = sale.transactions();
    List<CompletableFuture<? extends HoldOutcome>> asked = new ArrayList<>();
    try (Busy busy = new Busy(database, sale, pool)) {
      for (int i = 0; i < 20; i++) {
        asked.add(submit(sale, sale.release(i % 5 == 0 ? sealed : others.get(i))));
      }
      busy.end();
    }

    for (int i = 0; i < 20; i++) {
      assertThat(Door.await(asked.get(i))).isInstanceOf(i % 5 == 0 ? Vetoed.class : Ended.class);
    }
    assertThat(sale.transactions() - before).as("the busy one, and one batch").isEqualTo(2);
  }

  @Test
  void whatIsSealedEarlierInTheSameBatchIsKept() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(10);
    HoldId hold = sale.hold("alice", Line.of(pool, 1)).id();
    CompletableFuture<? extends HoldOutcome> first;
    CompletableFuture<? extends HoldOutcome> checkout;
    CompletableFuture<? extends HoldOutcome> release;
    CompletableFuture<? extends HoldOutcome> change;
    HoldId other = sale.hold("bob", Line.of(pool, 1)).id();
    try (Busy busy = new Busy(database, sale, pool)) {
      // The guard has the first word in the batch, about another hold.
      first = submit(sale, sale.release(other));
      checkout =
          sale.node()
              .submit(sale.extend(hold, Duration.ofHours(1)), new Seal(), hold.value())
              .toCompletableFuture();
      release = submit(sale, sale.release(hold));
      change = submit(sale, sale.change(hold, Line.of(pool, 5)));
      busy.end();
    }

    assertThat(Door.await(first)).isInstanceOf(Ended.class);
    assertThat(Door.await(checkout)).isInstanceOf(Granted.class);
    assertThat(Door.await(release)).isInstanceOf(Vetoed.class);
    assertThat(Door.await(change)).isInstanceOf(Vetoed.class);
  }

  @Test
  void whatIsReleasedEarlierInTheSameBatchIsNotSealed() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(10);
    HoldId hold = sale.hold("alice", Line.of(pool, 1)).id();
    CompletableFuture<? extends HoldOutcome> release;
    CompletableFuture<? extends HoldOutcome> checkout;
    try (Busy busy = new Busy(database, sale, pool)) {
      release = submit(sale, sale.release(hold));
      checkout =
          sale.node()
              .submit(sale.extend(hold, Duration.ofHours(1)), new Seal(), hold.value())
              .toCompletableFuture();
      busy.end();
    }

    assertThat(Door.await(release)).isInstanceOf(Ended.class);
    assertThat(Door.await(checkout)).isInstanceOf(HoldEnded.class);
  }

  private HoldOutcome asked(Sale sale, HoldCommand<? extends HoldOutcome> command) {
    return Door.await(submit(sale, command));
  }

  private <R extends HoldOutcome> CompletableFuture<R> submit(Sale sale, HoldCommand<R> command) {
    return sale.node().submit(command, guard, "x").toCompletableFuture();
  }

  private static HoldId sealed(Sale sale, PoolId pool) {
    HoldId hold = sale.hold("alice", Line.of(pool, 1)).id();
    database.execute("INSERT INTO seal VALUES ('%s')".formatted(hold.value()));
    return hold;
  }

  /** As a checkout does it: writes down, with the hold's extension, that it must stay. */
  private static final class Seal implements Companion<UUID> {
    @Override
    public void write(Exchange exchange, List<Accompanied<UUID>> outcomes) throws SQLException {
      for (Accompanied<UUID> one : outcomes) {
        if (one.outcome() instanceof Granted) {
          try (PreparedStatement insert =
              exchange.connection().prepareStatement("INSERT INTO seal VALUES (?)")) {
            insert.setObject(1, one.payload());
            insert.executeUpdate();
          }
        }
      }
    }
  }

  private static final class Guard implements Veto<String> {
    final List<HoldOutcome> written = new CopyOnWriteArrayList<>();

    @Override
    public Set<HoldId> keeps(Exchange exchange, ScopeId scope, Set<HoldId> holds)
        throws SQLException {
      Set<HoldId> sealed = new HashSet<>();
      try (PreparedStatement select =
              exchange.connection().prepareStatement("SELECT hold FROM seal");
          ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          sealed.add(new HoldId(rows.getObject(1, UUID.class)));
        }
      }
      sealed.retainAll(holds);
      return sealed;
    }

    @Override
    public void write(Exchange exchange, List<Accompanied<String>> outcomes) {
      outcomes.forEach(one -> written.add(one.outcome()));
    }
  }
}
