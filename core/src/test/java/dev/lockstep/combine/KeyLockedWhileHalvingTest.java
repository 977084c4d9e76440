package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.fault.LockTimeout;
import dev.lockstep.sql.Exchange;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A batch is halved because of a lock that one request met beside the key, and meanwhile somebody
 * locks the key itself. That is everybody's: no further part of the batch waits for it.
 */
class KeyLockedWhileHalvingTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final CombinerConfig CONFIG =
      CombinerConfig.named("halved")
          .withTransaction(TxOptions.DEFAULT.withLockTimeout(Duration.ofSeconds(1)));

  private final List<List<String>> begun = new CopyOnWriteArrayList<>();

  @BeforeEach
  void createTables() {
    Tickets.createTables(database);
  }

  @Test
  void theOtherHalfIsToldOfTheLockAndNotRun() throws SQLException {
    try (Connection gate = locked("SELECT value FROM counter WHERE id = 1 FOR UPDATE");
        Connection beside = locked("INSERT INTO ticket VALUES ('taken', 2, 1)");
        Connection intruder = locked("SELECT 1");
        Combiner<Integer, String, Long> tickets =
            Combiner.on(new Transactor(database.dataSource()), new Watched(intruder), CONFIG)) {
      CompletionStage<Long> first = tickets.submit(1, "first");
      Await.blocked(database, 1);
      List<CompletionStage<Long>> batch =
          Stream.of("taken", "a", "b", "c").map(name -> tickets.submit(1, name)).toList();
      gate.rollback();

      assertThat(Answers.of(first)).isEqualTo(1);
      assertThat(batch).allMatch(stage -> Answers.faultOf(stage) instanceof LockTimeout);
      beside.rollback();
      intruder.rollback();
    }
    assertThat(begun)
        .containsExactly(List.of("first"), List.of("taken", "a", "b", "c"), List.of("taken", "a"));
  }

  private static Connection locked(String sql) throws SQLException {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    Sql.execute(connection, sql);
    return connection;
  }

  /** Tickets; before the first half of a batch somebody else locks the key. */
  private final class Watched extends Tickets {
    private final Connection intruder;

    Watched(Connection intruder) {
      this.intruder = intruder;
    }

    @Override
    public Long lock(Exchange exchange, Integer counter, List<String> names) throws SQLException {
      begun.add(List.copyOf(names));
      if (names.size() == 2) {
        Sql.execute(intruder, "SELECT value FROM counter WHERE id = 1 FOR UPDATE");
      }
      return super.lock(exchange, counter, names);
    }
  }
}
