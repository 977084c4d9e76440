package dev.lockstep.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.fault.LockTimeout;
import dev.lockstep.outage.FrozenNode.Doing;
import dev.lockstep.testkit.TcpProxy;
import dev.lockstep.testkit.TcpProxy.Passage;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionException;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The network falls silent, or a process stops, in the middle of a message. The server reads the
 * rest, which never comes, with all the locks of the transaction. The others go on all the same.
 */
class HalfAMessageTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  /** As blocks run theirs, and the server all of them. */
  private static final TxOptions OPTIONS =
      TxOptions.DEFAULT
          .withStatementTimeout(CombinerConfig.named("any").transaction().statementTimeout())
          .withTransactionTimeout(CombinerConfig.named("any").transaction().transactionTimeout());

  private final Transactor direct = new Transactor(database.dataSource());

  @Test
  void inEveryBlockTheOthersGoOnAndWhatWasLostIsDoneOnce() throws Exception {
    assumeThat(database.queryLong("SELECT current_setting('server_version_num')::int"))
        .isGreaterThanOrEqualTo(170_000);
    FrozenNodeTest.makeWhatAllWant(direct);
    List<Lost> all = new ArrayList<>();
    try {
      for (Doing doing : Doing.values()) {
        all.add(new Lost(doing));
      }
      for (Lost lost : all) {
        Await.until(lost.doing + " is lost half way", () -> lost.network.halved);
      }
      for (Lost lost : all) {
        Await.until(lost.doing + " is free", () -> attempt(lost.doing));
      }
      for (Lost lost : all) {
        lost.network.proxy.deliver();
        lost.network.proxy.cut();
        assertThat(lost.ended.result().toString()).as(lost.doing.name()).isNotEmpty();
      }
    } finally {
      all.forEach(lost -> lost.network.proxy.close());
    }
    for (Doing doing : Doing.values()) {
      assertThat(database.queryLong(FrozenNodeTest.count(doing)))
          .as(doing.name())
          .isEqualTo(doing == Doing.ONCE ? 1 : 2);
    }
  }

  private boolean attempt(Doing doing) {
    try {
      doing.perform(direct, connection -> {});
      return true;
    } catch (LockTimeout stillLocked) {
      return false;
    } catch (CompletionException e) {
      assertThat(e).hasCauseInstanceOf(LockTimeout.class);
      return false;
    }
  }

  /** Has locks that others want, and whose next message arrives in part. */
  private static final class Lost {
    final Doing doing;
    final Halving network = new Halving();
    final Background<Object> ended;

    Lost(Doing doing) {
      this.doing = doing;
      Transactor remote = new Transactor(network.dataSource(), OPTIONS, attempt -> {});
      this.ended =
          Background.start(
              () ->
                  doing.perform(
                      remote,
                      connection -> {
                        if (!network.halved) {
                          network.armed = true;
                          Sql.query(connection, "SELECT 1");
                        }
                      }));
    }
  }

  private static final class Halving implements TcpProxy.Tap {
    final TcpProxy proxy = TcpProxy.to("127.0.0.1", database.server().port(), () -> this);
    volatile boolean armed;
    volatile boolean halved;

    @Override
    public Passage toServer(byte[] bytes) {
      if (!armed || halved) {
        return Passage.forward(bytes);
      }
      proxy.swallow();
      halved = true;
      return Passage.forward(Arrays.copyOf(bytes, bytes.length / 2));
    }

    DataSource dataSource() {
      PGSimpleDataSource source = new PGSimpleDataSource();
      source.setServerNames(new String[] {"127.0.0.1"});
      source.setPortNumbers(new int[] {proxy.port()});
      source.setDatabaseName(database.name());
      source.setUser(database.user());
      source.setPassword(database.password());
      return source;
    }
  }
}
