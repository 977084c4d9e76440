package dev.lockstep.examples.trades;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.broker.KafkaBroker;
import dev.lockstep.testkit.TestDatabase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The example, on a real database and a real broker. */
class TradesToKafkaTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  @Test
  void fourRelaysPublishEveryPortfoliosTradesInOrder() throws Exception {
    try (KafkaBroker broker = KafkaBroker.start()) {
      Checked checked =
          new TradesToKafka(database.dataSource(), broker.bootstrapServers()).run(20, 2_000);

      assertThat(checked.trades()).isEqualTo(2_000);
      assertThat(checked.portfolios()).isEqualTo(20);
      // As the desk booked them.
      assertThat(
              database.queryLong(
                  """
                  SELECT count(*) FROM trades.position p JOIN (
                    SELECT portfolio, count(*) trades FROM trades.booked GROUP BY portfolio) b
                    USING (portfolio) WHERE p.trades = b.trades"""))
          .isEqualTo(20);
    }
  }
}
