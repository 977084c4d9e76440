package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.combine.CompanionResult;
import dev.lockstep.combine.Door;
import dev.lockstep.combine.TripWriter;
import dev.lockstep.ledger.LedgerOutcome.InsufficientFunds;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.CommitFault.Moment;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Tampered;
import dev.lockstep.tx.Transactor;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A batch in which everything was refused moves no money. What its companion wrote is all there is
 * of it, and must be recognised after a crash that took the transaction's id with it.
 */
class TransferCompanionAfterCrashTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.ownServer(true);
  @RegisterExtension final Bank bank = new Bank(database);

  @Test
  void whatWasWrittenForARefusalIsWrittenOnce() throws Exception {
    database.execute("CREATE TABLE effect (reference text)");
    AccountId world = bank.world();
    AccountId from = bank.with(world, 1);
    TripWriter<String, LedgerOutcome> noting =
        (exchange, outcomes) ->
            Sql.execute(
                exchange.connection(), "INSERT INTO effect VALUES (?)", outcomes.get(0).payload());
    CountDownLatch restarted = new CountDownLatch(1);
    try (CommitFault fault = CommitFault.on(database)) {
      DataSource source =
          Tampered.gated(
              fault.dataSource(),
              () -> {
                if (fault.fired()) {
                  Tampered.await(restarted);
                }
              });
      try (Ledger node = new Ledger(new Transactor(source))) {
        fault.arm(Moment.AFTER_COMMIT);
        CompletionStage<TransferResult> answer =
            node.submit(bank.move(from, world, 2), noting, "r1")
                .thenApply(CompanionResult::outcome);
        fault.awaitFired();
        database.server().crash();
        database.server().restart();
        database
            .dataSource()
            .unwrap(HikariDataSource.class)
            .getHikariPoolMXBean()
            .softEvictConnections();
        restarted.countDown();

        assertThat(Door.await(answer)).isInstanceOf(InsufficientFunds.class);
      }
    }
    assertThat(database.queryLong("SELECT count(*) FROM effect")).isEqualTo(1);
  }
}
