package dev.lockstep.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RaceTest {

  private static final int CALLERS = 8;

  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  @Test
  void aLostUpdateIsSeen() throws Exception {
    database.execute("CREATE TABLE naive (n int); INSERT INTO naive VALUES (0)");
    CyclicBarrier allHaveRead = new CyclicBarrier(CALLERS);
    RaceResult<Integer> result =
        Race.<Integer>of(CALLERS)
            .run(
                i -> {
                  try (Connection connection = database.connection()) {
                    int read = readThenWrite(connection, allHaveRead);
                    return read + 1;
                  }
                });
    assertThat(result.valuesOrThrow()).hasSize(CALLERS).containsOnly(1);
    assertThat(database.queryLong("SELECT n FROM naive")).isEqualTo(1);
  }

  private static int readThenWrite(Connection connection, CyclicBarrier allHaveRead)
      throws Exception {
    int read;
    try (ResultSet row = connection.createStatement().executeQuery("SELECT n FROM naive")) {
      row.next();
      read = row.getInt(1);
    }
    allHaveRead.await();
    connection.createStatement().execute("UPDATE naive SET n = " + (read + 1));
    return read;
  }

  @Test
  void aGuardedUpdateIsNotLost() throws Exception {
    database.execute("CREATE TABLE guarded (n int); INSERT INTO guarded VALUES (0)");
    Race.<Integer>of(CALLERS)
        .run(
            i -> {
              database.execute("UPDATE guarded SET n = n + 1");
              return i;
            })
        .valuesOrThrow();
    assertThat(database.queryLong("SELECT n FROM guarded")).isEqualTo(CALLERS);
  }

  @Test
  void allCallersRunAtOnceInThreadsNamedAfterThem() throws Exception {
    CyclicBarrier everybody = new CyclicBarrier(CALLERS);
    RaceResult<String> result =
        Race.<String>of(CALLERS)
            .run(
                i -> {
                  everybody.await(30, TimeUnit.SECONDS);
                  return Thread.currentThread().getName();
                });
    assertThat(result.valuesOrThrow())
        .containsExactlyElementsOf(IntStream.range(0, CALLERS).mapToObj(i -> "race-" + i).toList());
  }

  @Test
  void eachOutcomeIsKeptInTheOrderOfTheCallers() throws Exception {
    RaceResult<Integer> result =
        Race.<Integer>of(4)
            .run(
                i -> {
                  if (i % 2 == 1) {
                    throw new SQLException("odd " + i);
                  }
                  return i;
                });
    assertThat(result.values()).containsExactly(0, 2);
    assertThat(result.failures())
        .extracting(Throwable::getMessage)
        .containsExactly("odd 1", "odd 3");
    assertThat(result.outcomes())
        .extracting(RaceResult.Outcome::caller)
        .containsExactly(0, 1, 2, 3);
    assertThat(result.outcomes().get(2)).isEqualTo(new RaceResult.Value<>(2, 2));
    assertThatThrownBy(result::valuesOrThrow)
        .isInstanceOf(AssertionError.class)
        .hasMessage("2 of 4 callers failed")
        .hasRootCauseMessage("odd 1")
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
  }

  @Test
  void aCallerThatDoesNotEndIsShownWithItsStack() {
    CountDownLatch never = new CountDownLatch(1);
    Race<Integer> race = Race.<Integer>of(3).within(Duration.ofMillis(200));
    assertThatThrownBy(
            () ->
                race.run(
                    i -> {
                      if (i == 1) {
                        never.await();
                      }
                      return i;
                    }))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("1 of 3 callers did not end")
        .hasMessageContaining("race-1 WAITING")
        .hasMessageContaining("CountDownLatch.await");
  }

  @Test
  void theFailureThatOthersWaitForIsShown() {
    CountDownLatch never = new CountDownLatch(1);
    Race<Integer> race = Race.<Integer>of(2).within(Duration.ofMillis(200));
    assertThatThrownBy(
            () ->
                race.run(
                    i -> {
                      if (i == 1) {
                        throw new SQLException("no connection");
                      }
                      never.await();
                      return i;
                    }))
        .hasMessageContaining("1 of 2 callers did not end")
        .satisfies(e -> assertThat(e.getSuppressed()[0]).hasMessage("no connection"));
  }

  @Test
  void aRaceNeedsACaller() {
    assertThatThrownBy(() -> Race.of(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Race.of(10_001)).isInstanceOf(IllegalArgumentException.class);
  }
}
