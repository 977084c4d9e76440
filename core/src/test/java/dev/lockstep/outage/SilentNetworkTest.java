package dev.lockstep.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.lockstep.fault.TransientFault;
import dev.lockstep.testkit.TcpProxy;
import dev.lockstep.testkit.TcpProxy.Passage;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A network that swallows packets ends no connection: neither side hears from the other again. The
 * locks of what was under way are free all the same, after the idle timeout.
 */
class SilentNetworkTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final String LOCK = "UPDATE item SET n = n + 1 WHERE id = 1";
  private static final int FAR_MORE_THAN_SOCKETS_BUFFER = 64 * 1024 * 1024;

  /** Longer than any other timeout, so that it is the server that ends the transaction. */
  private static final TxOptions CUT_OFF =
      TxOptions.DEFAULT
          .withIdleTimeout(Duration.ofSeconds(1))
          .withStatementTimeout(Duration.ofSeconds(50))
          .withDeadline(Duration.ofSeconds(50));

  private static final TxOptions HALF_WAY =
      TxOptions.DEFAULT
          .withStatementTimeout(Duration.ofSeconds(3))
          .withTransactionTimeout(Duration.ofSeconds(3))
          .withDeadline(Duration.ofSeconds(50));

  private static final String READING_THE_REST =
      """
      SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'active' AND wait_event = 'ClientRead'""";

  private static final TxOptions WAITING =
      TxOptions.DEFAULT
          .withStatementTimeout(Duration.ofSeconds(20))
          .withLockTimeout(Duration.ofSeconds(20));

  private final CountDownLatch taking = new CountDownLatch(1);
  private volatile boolean answersAreTaken = true;
  private volatile boolean messagesAreCutInHalf;
  private final TcpProxy proxy =
      TcpProxy.to("127.0.0.1", database.server().port(), () -> new Reluctant());
  private final Transactor direct = new Transactor(database.dataSource());
  private final Transactor cutOff = new Transactor(throughTheProxy());
  private final CountDownLatch locked = new CountDownLatch(1);
  private final CountDownLatch silent = new CountDownLatch(1);

  @BeforeEach
  void oneItem() {
    database.execute(
        "DROP TABLE IF EXISTS item; CREATE TABLE item (id int, n int); INSERT INTO item VALUES (1, 0)");
  }

  @AfterEach
  void closeProxy() {
    taking.countDown();
    proxy.close();
  }

  @Test
  void theLocksOfATransactionWhoseNextStatementIsLostAreFreedByTheServer() throws Exception {
    Background<Integer> lost = underWay("SELECT 1");
    proxy.swallow();
    silent.countDown();

    assertThat(direct.<Integer>call(WAITING, c -> Sql.execute(c, LOCK))).isEqualTo(1);

    proxy.cut();
    proxy.refuse();
    assertThatThrownBy(lost::result).isInstanceOf(TransientFault.class);
    assertThat(database.queryLong("SELECT n FROM item")).isEqualTo(1);
  }

  /** The server can not even wait for the next statement: it is still sending. */
  @Test
  void theLocksOfATransactionWhoseAnswerNobodyTakesAreFreedByTheServer() throws Exception {
    Background<Integer> lost = underWay("SELECT repeat('x', " + FAR_MORE_THAN_SOCKETS_BUFFER + ")");
    answersAreTaken = false;
    silent.countDown();

    assertThat(direct.<Integer>call(WAITING, c -> Sql.execute(c, LOCK))).isEqualTo(1);

    proxy.cut();
    proxy.refuse();
    assertThatThrownBy(lost::result).isInstanceOf(TransientFault.class);
    assertThat(database.queryLong("SELECT n FROM item")).isEqualTo(1);
  }

  @Test
  void whatWasLostIsDoneAgainOnceTheNetworkIsBack() throws Exception {
    Background<Integer> lost = underWay("SELECT 1");
    proxy.swallow();
    silent.countDown();
    assertThat(direct.<Integer>call(WAITING, c -> Sql.execute(c, LOCK))).isEqualTo(1);

    proxy.deliver();
    proxy.cut();

    assertThat(lost.result()).isEqualTo(1);
    assertThat(database.queryLong("SELECT n FROM item")).isEqualTo(2);
  }

  /**
   * The server reads the rest of a message that never comes. It counts as active then: neither the
   * idle timeout nor a statement's ends that.
   */
  @Test
  void theLocksOfATransactionWhoseNextStatementIsLostHalfWayAreFreedByTheServer() throws Exception {
    assumeThat(serverVersion()).isGreaterThanOrEqualTo(17);
    Background<Integer> lost = underWay("SELECT 1", HALF_WAY);
    messagesAreCutInHalf = true;
    silent.countDown();
    Await.until("half a message has arrived", () -> database.queryLong(READING_THE_REST) == 1);

    assertThat(direct.<Integer>call(WAITING, c -> Sql.execute(c, LOCK))).isEqualTo(1);

    proxy.cut();
    proxy.refuse();
    assertThatThrownBy(lost::result).isInstanceOf(TransientFault.class);
    assertThat(database.queryLong("SELECT n FROM item")).isEqualTo(1);
  }

  private static long serverVersion() {
    return database.queryLong("SELECT current_setting('server_version_num')::int / 10000");
  }

  /** Has the row locked, and waits for the network to fall silent; then runs the statement. */
  private Background<Integer> underWay(String next) throws InterruptedException {
    return underWay(next, CUT_OFF);
  }

  private Background<Integer> underWay(String next, TxOptions options) throws InterruptedException {
    Background<Integer> transaction =
        Background.start(
            () ->
                cutOff.call(
                    options,
                    connection -> {
                      int changed = Sql.execute(connection, LOCK);
                      locked.countDown();
                      try {
                        silent.await();
                      } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                      }
                      Sql.text(connection, next);
                      return changed;
                    }));
    locked.await();
    return transaction;
  }

  /** Takes no more from the server once it is told so, or gives it no more. */
  private final class Reluctant implements TcpProxy.Tap {
    @Override
    public Passage toServer(byte[] bytes) {
      if (!messagesAreCutInHalf) {
        return Passage.forward(bytes);
      }
      proxy.swallow();
      return Passage.forward(Arrays.copyOf(bytes, bytes.length / 2));
    }

    @Override
    public Passage toClient(byte[] bytes) {
      try {
        if (!answersAreTaken) {
          taking.await();
        }
        return Passage.forward(bytes);
      } catch (InterruptedException e) {
        return Passage.cut();
      }
    }
  }

  private DataSource throughTheProxy() {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setServerNames(new String[] {"127.0.0.1"});
    source.setPortNumbers(new int[] {proxy.port()});
    source.setDatabaseName(database.name());
    source.setUser(database.user());
    source.setPassword(database.password());
    return source;
  }
}
