package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.hold.StockViolation.StockInvariant;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pools from before totals were accounted for begin with what they had when it came to be. */
class UpgradedPoolTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  @Test
  void aPoolFromBeforeIsInOrderUntilItsTotalIsChangedByHand() {
    migrateTo("34");
    database.execute(
        """
        INSERT INTO lockstep.scope VALUES (1, NULL);
        INSERT INTO lockstep.pool (scope, pool, has_units, total, held, audit_seq)
        VALUES (1, 1, false, 10, 2, 1), (1, 2, false, 0, 0, 0);
        INSERT INTO lockstep.hold (scope, hold, buyer, fingerprint, state, created_at, expires_at,
          pools, quantities)
        VALUES (1, gen_random_uuid(), 'b', 1, 0, now(), now() + interval '1 hour', '{1}', '{2}');
        INSERT INTO lockstep.stock_audit
        SELECT 1, 1, 1, hold, 0, 'b', 0, 2, 0, 0, now() FROM lockstep.hold;
        INSERT INTO lockstep.audit_mark VALUES (1, 1, 1, 2, 0), (1, 2, 0, 0, 0)""");
    migrateTo("latest");
    StockCheck audit = new StockCheck(new Transactor(database.dataSource()), violation -> {});

    assertThat(audit.checkChanged().pools()).as("what was verified is verified").isZero();
    assertThat(audit.checkAll().violations()).isEmpty();

    database.execute("UPDATE lockstep.pool SET total = 11 WHERE pool = 1");
    assertThat(audit.checkChanged().violations())
        .containsExactly(
            new StockViolation(
                StockInvariant.TOTAL,
                1,
                1,
                "the pool has a total of 11, its audit accounts for 10"));
  }

  private static void migrateTo(String version) {
    Flyway.configure()
        .dataSource(database.dataSource())
        .locations("classpath:db/lockstep")
        .defaultSchema("lockstep")
        .createSchemas(true)
        .target(version)
        .load()
        .migrate();
  }
}
