package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.fault.SerializationConflict;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.RaceResult;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Sixty-four callers take a number from one counter, which they read and then write. */
class SerializableCounterTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final int CALLERS = 64;

  @BeforeEach
  void aCounter() {
    database.execute(
        "DROP TABLE IF EXISTS counter, taken; CREATE TABLE counter (value bigint);"
            + " INSERT INTO counter VALUES (0);"
            + " CREATE TABLE taken (caller int PRIMARY KEY, number bigint UNIQUE)");
  }

  @Test
  void withoutRetryOneOfTwoWhoReadTheSameIsTurnedAway() throws InterruptedException {
    CyclicBarrier bothHaveRead = new CyclicBarrier(2);

    RaceResult<Long> result = race(2, RetryPolicy.NEVER, () -> await(bothHaveRead));

    assertThat(result.failures())
        .singleElement()
        .satisfies(e -> assertThat(e).isInstanceOf(SerializationConflict.class));
    assertThat(taken()).as("the failure left no number behind").isEqualTo(result.values());
  }

  @Test
  void everyCallerSucceedsExactlyOnce() throws InterruptedException {
    List<Long> numbers = race(CALLERS, RetryPolicy.DEFAULT, () -> {}).valuesOrThrow();

    List<Long> oneToAll = LongStream.rangeClosed(1, CALLERS).boxed().toList();
    assertThat(numbers).containsExactlyInAnyOrderElementsOf(oneToAll);
    assertThat(taken()).containsExactlyElementsOf(oneToAll);
    assertThat(database.queryLong("SELECT value FROM counter")).isEqualTo(CALLERS);
  }

  private static RaceResult<Long> race(int callers, RetryPolicy retry, Runnable afterReading)
      throws InterruptedException {
    TxOptions options = TxOptions.DEFAULT.withIsolation(Isolation.SERIALIZABLE).withRetry(retry);
    Transactor transactor = new Transactor(database.dataSource());
    return Race.<Long>of(callers)
        .run(i -> transactor.call(options, connection -> takeNumber(connection, i, afterReading)));
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (InterruptedException | BrokenBarrierException e) {
      throw new IllegalStateException(e);
    }
  }

  private static long takeNumber(Connection connection, int caller, Runnable afterReading)
      throws SQLException {
    long number = Sql.query(connection, "SELECT value FROM counter") + 1;
    afterReading.run();
    Sql.execute(connection, "UPDATE counter SET value = ?", number);
    Sql.execute(connection, "INSERT INTO taken VALUES (?, ?)", caller, number);
    return number;
  }

  private static List<Long> taken() {
    return database.query("SELECT number FROM taken ORDER BY number", row -> row.getLong(1));
  }
}
