package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.fault.LockTimeout;
import dev.lockstep.ledger.LedgerOutcome.Done;
import dev.lockstep.testkit.TcpProxy;
import dev.lockstep.testkit.TcpProxy.Passage;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** A transfer that goes without BEGIN is bounded, too: all of its message but the end arrives. */
class LoneMoveWithoutAnEndTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Bank bank = new Bank(database);

  private volatile boolean lost;

  @Test
  void theOthersGoOnAndItIsDoneOnce() throws Exception {
    assumeThat(database.queryLong("SELECT current_setting('server_version_num')::int"))
        .isGreaterThanOrEqualTo(170_000);
    AccountId from = bank.world();
    AccountId to = bank.world();
    try (TcpProxy proxy = TcpProxy.to("127.0.0.1", database.server().port(), Endless::new);
        Ledger remote = new Ledger(new Transactor(through(proxy)), brief())) {
      assertThat(remote.call(bank.move(from, to, 1))).isInstanceOf(Done.class);
      Background<TransferResult> cut = Background.start(() -> callUntilLost(remote, from, to));
      Await.until("its end is lost", () -> lost);
      proxy.swallow();

      Await.until("others go on", () -> attempt(from, to));

      proxy.deliver();
      proxy.cut();
      assertThat(cut.result()).isInstanceOf(Done.class);
    }
  }

  /**
   * The first goes together with others, or on rows that were read; one that goes alone follows.
   */
  private TransferResult callUntilLost(Ledger remote, AccountId from, AccountId to) {
    TransferResult last;
    do {
      last = remote.call(bank.move(from, to, 1));
    } while (!lost);
    return last;
  }

  private boolean attempt(AccountId from, AccountId to) {
    try {
      return bank.ask(bank.move(from, to, 1)) instanceof Done;
    } catch (LockTimeout stillLocked) {
      return false;
    }
  }

  private static LedgerConfig brief() {
    CombinerConfig combiner = LedgerConfig.DEFAULT.combiner();
    TxOptions brief =
        combiner
            .transaction()
            .withStatementTimeout(Duration.ofSeconds(4))
            .withTransactionTimeout(Duration.ofSeconds(4));
    return LedgerConfig.DEFAULT.withCombiner(combiner.withTransaction(brief));
  }

  /** Loses the last byte of what calls the function, which is of Sync. */
  private final class Endless implements TcpProxy.Tap {
    @Override
    public Passage toServer(byte[] bytes) {
      boolean moves = new String(bytes, StandardCharsets.ISO_8859_1).contains("lockstep.move(");
      if (!moves || lost) {
        return Passage.forward(bytes);
      }
      lost = true;
      return Passage.forward(Arrays.copyOf(bytes, bytes.length - 1));
    }
  }

  private static PGSimpleDataSource through(TcpProxy proxy) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setServerNames(new String[] {"127.0.0.1"});
    source.setPortNumbers(new int[] {proxy.port()});
    source.setDatabaseName(database.name());
    source.setUser(database.user());
    source.setPassword(database.password());
    return source;
  }
}
