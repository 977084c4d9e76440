package dev.lockstep.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.outbox.Relay;
import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/**
 * A relay that is stopped for longer than its lease, and goes on when another has taken over: a
 * process of its own, stopped with SIGSTOP in the middle of a delivery.
 */
class FencedRelayTest {
  private static final String NODE = "paused";

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Stage stage = new Stage(database);

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "NAIVE_BEFORE_SENDING")
  void aRelayPausedPastItsLeaseCannotPublishAfterTheTakeover(PausedProducer.Kind kind)
      throws Exception {
    String said = takeOverFrom(kind);

    assertThat(said).startsWith(PausedProducer.REFUSED);
    assertThat(stage.seqs("a")).containsExactly(1L, 2L, 3L, 4L);
  }

  @Test
  void aProducerWithoutATransactionalIdPublishesAfterTheTakeover() throws Exception {
    String said = takeOverFrom(PausedProducer.Kind.NAIVE_BEFORE_SENDING);

    assertThat(said).isEqualTo(PausedProducer.PUBLISHED);
    assertThat(stage.seqs("a")).containsExactly(1L, 2L, 3L, 4L, 1L, 2L, 3L);
  }

  /** What the paused relay says of its batch when it goes on. */
  private String takeOverFrom(PausedProducer.Kind kind) throws Exception {
    stage.define(Map.of());
    stage.append("a", "1", "2", "3");
    try (ChildJvm paused =
        ChildJvm.start(
            PausedRelay.class,
            database.url(),
            database.user(),
            database.password(),
            Stage.broker().bootstrapServers(),
            kind.name())) {
      paused.awaitLine(PausedProducer.HOLDING);
      paused.pause();
      endTransactionsOf(NODE);
      stage.ageAllBut(Stage.NODE);
      stage.start(Stage.kafka());
      stage.append("a", "4");
      stage.awaitPublished(4);

      paused.resume();
      paused.send("go on");
      return paused.awaitLine(
          line -> line.equals(PausedProducer.PUBLISHED) || line.startsWith(PausedProducer.REFUSED));
    }
  }

  /** As the server does by itself when a lease has passed: it may have stopped in one. */
  private static void endTransactionsOf(String application) {
    database.execute(
        """
        DO $$ BEGIN
          PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = '%s' AND xact_start IS NOT NULL;
        END $$"""
            .formatted(application));
  }

  /** The relay that is paused. */
  static final class PausedRelay {
    private PausedRelay() {}

    public static void main(String[] args) throws Exception {
      HikariConfig pool = new HikariConfig();
      pool.setJdbcUrl(args[0]);
      pool.setUsername(args[1]);
      pool.setPassword(args[2]);
      pool.setMaximumPoolSize(4);
      pool.addDataSourceProperty("ApplicationName", NODE);
      KafkaConfig kafka = KafkaConfig.of(args[3], "test");
      PausedProducer.Kind kind = PausedProducer.Kind.valueOf(args[4]);
      try (HikariDataSource dataSource = new HikariDataSource(pool)) {
        Relay relay =
            Stage.outbox(new Transactor(dataSource))
                .relay(
                    Stage.relayConfig(NODE),
                    Stage.types(kafka, settings -> new PausedProducer(settings, kind)));
        relay.wake();
        new CountDownLatch(1).await();
      }
    }
  }
}
