package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** G6: a due job is run once, however many want to run it. */
class ClaimedOnceTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated().withPoolSize(40);
  @RegisterExtension final Desk desk = new Desk(database);

  @Test
  void threeSchedulersRunTenEventsOnceEach() {
    desk.enqueueMany(10);
    for (int i = 0; i < 3; i++) {
      desk.start(1, desk::note);
    }

    desk.awaitNoneLive();

    assertThat(desk.ran).containsExactlyInAnyOrderElementsOf(numbers(10));
  }

  @Test
  void aHundredClaimersRunAThousandEventsOnceEach() {
    for (int i = 0; i < 4; i++) {
      desk.start(25, desk::note);
    }
    desk.enqueueMany(1_000);

    desk.awaitNoneLive();

    assertThat(desk.ran).containsExactlyInAnyOrderElementsOf(numbers(1_000));
  }

  @Test
  void nodesThatComeAndGoMeanwhileRunNothingTwice() {
    desk.enqueueMany(3_000);
    desk.start(4, desk::note);
    for (int i = 0; i < 3; i++) {
      desk.start(4, desk::note).close();
    }

    desk.awaitNoneLive();

    assertThat(desk.ran).containsExactlyInAnyOrderElementsOf(numbers(3_000));
  }

  @Test
  void selectThenUpdateRunsAnEventTwice() throws Exception {
    database.execute(
        """
        DROP TABLE IF EXISTS naive_event;
        CREATE TABLE naive_event (id int PRIMARY KEY, status text NOT NULL);
        INSERT INTO naive_event VALUES (1, 'PENDING');
        """);
    CyclicBarrier gap = new CyclicBarrier(2);

    List<Integer> claimed =
        Race.<Integer>of(2)
            .run(
                i -> {
                  try (Connection connection = database.connection()) {
                    long id =
                        Sql.query(
                            connection, "SELECT id FROM naive_event WHERE status = 'PENDING'");
                    gap.await();
                    return Sql.execute(
                        connection,
                        "UPDATE naive_event SET status = 'PROCESSING' WHERE id = ?",
                        (int) id);
                  }
                })
            .valuesOrThrow();

    assertThat(claimed).as("both have it").containsExactly(1, 1);
  }

  private static List<String> numbers(int count) {
    return IntStream.range(0, count).mapToObj(Integer::toString).toList();
  }
}
