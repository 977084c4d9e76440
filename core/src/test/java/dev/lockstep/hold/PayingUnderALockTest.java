package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.combine.Door;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * E12: the provider does not answer one buyer's payment. With the stock locked until it does,
 * everybody waits; with a hold, nobody does. Both shops have a pool of three connections.
 */
class PayingUnderALockTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final int CONNECTIONS = 3;
  private static final String OPEN_TRANSACTIONS =
      """
      SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND state LIKE 'idle in transaction%'""";

  @Test
  void naiveLockUntilThePaymentEndsStopsTheWholeShop() throws Exception {
    new NaiveSale(database, 10);
    CountDownLatch paying = new CountDownLatch(1);
    CountDownLatch answer = new CountDownLatch(1);
    try (HikariDataSource shop = shop()) {
      Background<Boolean> first =
          Background.start(
              () ->
                  buyAndPay(
                      shop,
                      () -> {
                        paying.countDown();
                        answer.await();
                      }));
      paying.await();
      Background<Boolean> second = Background.start(() -> buyAndPay(shop, () -> {}));
      Background<Boolean> third = Background.start(() -> buyAndPay(shop, () -> {}));
      Await.blocked(database, 2);

      assertThatThrownBy(shop::getConnection)
          .as("a visitor who only wants to look")
          .isInstanceOf(SQLTransientConnectionException.class);

      answer.countDown();
      assertThat(first.result() && second.result() && third.result()).isTrue();
    }
  }

  @Test
  void oursLetsOthersBuyWhileAPaymentIsUnanswered() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(10);
    try (HikariDataSource shop = shop();
        Holds holds = new Holds(new Transactor(shop))) {
      Hold unanswered = granted(holds, sale.acquire("first", Line.of(pool, 1)));

      assertThat(database.queryLong(OPEN_TRANSACTIONS)).as("while the first one pays").isZero();
      for (String buyer : new String[] {"second", "third", "fourth"}) {
        Hold hold = granted(holds, sale.acquire(buyer, Line.of(pool, 1)));
        assertThat(Door.await(holds.submit(sale.confirm(hold.id()))))
            .isInstanceOf(HoldOutcome.Ended.class);
      }
      try (Connection visitor = shop.getConnection()) {
        assertThat(visitor.isValid(0)).isTrue();
      }

      assertThat(Door.await(holds.submit(sale.confirm(unanswered.id()))))
          .as("when the payment is answered")
          .isInstanceOf(HoldOutcome.Ended.class);
      assertThat(sale.counts(pool)).isEqualTo(new PoolCounts(pool, 10, 0, 4));
    }
  }

  /** As the document says: "never release lock until entire transaction (including payment)". */
  private static boolean buyAndPay(HikariDataSource shop, Payment payment) throws Exception {
    try (Connection connection = shop.getConnection()) {
      connection.setAutoCommit(false);
      Sql.query(connection, "SELECT total - sold FROM naive.campaign FOR UPDATE");
      payment.answered();
      Sql.execute(connection, "UPDATE naive.campaign SET sold = sold + 1");
      connection.commit();
      return true;
    }
  }

  private static Hold granted(Holds holds, HoldCommand.Acquire acquire) {
    return ((HoldOutcome.Granted) Door.await(holds.submit(acquire))).hold();
  }

  /** Long enough to open a connection on a slow machine, short enough to see it refused. */
  private static HikariDataSource shop() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.url());
    config.setUsername(database.user());
    config.setPassword(database.password());
    config.setMaximumPoolSize(CONNECTIONS);
    config.setConnectionTimeout(5_000);
    return new HikariDataSource(config);
  }

  /** Returns when the provider has answered. */
  private interface Payment {
    void answered() throws InterruptedException;
  }
}
