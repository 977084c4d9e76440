package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.TransientFault;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.sql.Exchange;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A veto that cannot answer for one hold fails the command of that hold, and no other. */
class VetoFaultTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final int CALLERS = 10;

  @BeforeEach
  void tables() {
    database.execute(
        """
        DROP TABLE IF EXISTS seal;
        CREATE TABLE seal (id int PRIMARY KEY);
        INSERT INTO seal VALUES (1);
        """);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT 1 FROM seal WHERE id = 1 FOR UPDATE",
        "SELECT pg_sleep(30)",
        "DO $$ BEGIN RAISE EXCEPTION 'a conflict' USING ERRCODE = '40001'; END $$",
        "DO $$ BEGIN RAISE EXCEPTION 'a server behind it' USING ERRCODE = '08001'; END $$",
        "DO $$ BEGIN RAISE EXCEPTION 'cancelled' USING ERRCODE = '57014'; END $$",
        "DO $$ BEGIN RAISE EXCEPTION 'its disk' USING ERRCODE = '53100'; END $$"
      })
  void aVetoThatFailsForOneHoldFailsItsCommandOnly(String statement) throws Exception {
    Sale sale = fixture.sale(OptionalInt.empty(), HoldFixture.IMPATIENT);
    PoolId pool = sale.counted(100);
    List<HoldId> holds = new ArrayList<>();
    for (int i = 0; i < CALLERS; i++) {
      holds.add(sale.hold("buyer-" + i, Line.of(pool, 1)).id());
    }
    Veto<String> veto = new Failing(holds.get(7), statement);
    List<CompletableFuture<EndResult>> asked = new ArrayList<>();
    List<RuntimeException> failures = new ArrayList<>();
    int ended = 0;
    try (Connection another = database.connection();
        Busy busy = new Busy(database, sale, pool)) {
      another.setAutoCommit(false);
      Sql.query(another, "SELECT 1 FROM seal WHERE id = 1 FOR UPDATE");
      for (HoldId hold : holds) {
        asked.add(sale.node().submit(sale.release(hold), veto, "x").toCompletableFuture());
      }
      busy.end();
      for (CompletableFuture<EndResult> one : asked) {
        try {
          assertThat(Door.await(one)).isInstanceOf(Ended.class);
          ended++;
        } catch (RuntimeException e) {
          failures.add(e);
        }
      }
    }

    assertThat(failures).singleElement().isInstanceOf(TransientFault.class);
    assertThat(ended).isEqualTo(CALLERS - 1);
  }

  /** Asks with a statement that fails, if it is asked about one certain hold. */
  private record Failing(HoldId hold, String statement) implements Veto<String> {
    @Override
    public Set<HoldId> keeps(Exchange exchange, ScopeId scope, Set<HoldId> holds)
        throws SQLException {
      if (holds.contains(hold)) {
        Sql.execute(exchange.connection(), statement);
      }
      return Set.of();
    }

    @Override
    public void write(Exchange exchange, List<Accompanied<String>> outcomes) {}
  }
}
