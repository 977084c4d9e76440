package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pools are locked by key, wherever their rows lie in the table. */
class PoolLockOrderTest {
  private static final int WANTED = 80;

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  /** The planner reads few of many rows in another way than most of a few. */
  @ParameterizedTest
  @ValueSource(ints = {160, 320, 1_000, 4_000})
  void rememberedPoolsAreLockedInOrderByTheirWrite(int pools) throws Exception {
    Sale sale = fixture.sale();
    sale.node()
        .createPools(
            sale.scope(),
            LongStream.rangeClosed(1, pools)
                .mapToObj(id -> NewPool.counted(new PoolId(id), 10))
                .toList());
    lieBackwards();
    Line[] lines =
        LongStream.rangeClosed(1, WANTED)
            .mapToObj(i -> Line.of(new PoolId(i * (pools / WANTED)), 1))
            .toArray(Line[]::new);
    sale.hold("first", lines);
    List<Long> all = List.of(lines).stream().map(line -> line.pool().value()).toList();
    long middle = all.get(WANTED / 2);

    try (Connection contender = database.connection();
        Connection observer = database.connection()) {
      contender.setAutoCommit(false);
      observer.setAutoCommit(false);
      Sql.query(contender, "SELECT 1 FROM lockstep.pool WHERE pool = ? FOR UPDATE", middle);
      Background<AcquireResult> second =
          Background.start(() -> sale.ask(sale.acquire("second", lines)));
      Await.blocked(database, 1);

      long locked =
          Sql.query(
              observer,
              """
              WITH free AS (SELECT pool FROM lockstep.pool FOR UPDATE SKIP LOCKED)
              SELECT max(pool) FROM lockstep.pool WHERE pool NOT IN (SELECT pool FROM free)""");
      observer.rollback();
      contender.rollback();

      assertThat(locked).as("the last that is locked").isEqualTo(middle);
      assertThat(second.result()).isInstanceOf(Granted.class);
    }
  }

  /** As after a while of updates, which move rows. */
  private static void lieBackwards() {
    database.execute(
        """
        CREATE TEMP TABLE moved AS SELECT * FROM lockstep.pool;
        TRUNCATE lockstep.pool;
        INSERT INTO lockstep.pool SELECT * FROM moved ORDER BY hashint8(pool);
        DROP TABLE moved;
        ANALYZE lockstep.pool""");
  }
}
