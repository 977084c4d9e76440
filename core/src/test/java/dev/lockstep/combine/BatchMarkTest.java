package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.sql.Exchange;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The row by which a batch is recognised that left no other. */
class BatchMarkTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  @Test
  void onlyTheBatchThatLeftItIsRecognised() throws SQLException {
    BatchMark mark = BatchMark.of(new Trace.Mark(1, NOW));
    BatchMark other = BatchMark.of(new Trace.Mark(1, NOW));
    leave(mark);

    try (Connection connection = database.connection()) {
      assertThat(mark.isIn(connection)).isTrue();
      assertThat(other.isIn(connection)).isFalse();
    }
  }

  @Test
  void oldMarksOfAScopeAreTakenAwayByNewOnes() throws SQLException {
    for (int minute = 0; minute < 20; minute++) {
      leave(BatchMark.of(new Trace.Mark(2, NOW.plusSeconds(60L * minute))));
      leave(BatchMark.of(new Trace.Mark(3, NOW)));
    }
    for (int i = 0; i < 5; i++) {
      leave(BatchMark.of(new Trace.Mark(2, NOW.plusSeconds(7_200))));
    }

    assertThat(marksOf(2)).as("the new ones").isEqualTo(5);
    assertThat(marksOf(3)).as("another scope's").isEqualTo(20);
  }

  @Test
  void whatAnotherBatchIsTakingAwayIsPassedOverAndNotWaitedFor() throws SQLException {
    for (int i = 0; i < 6; i++) {
      leave(BatchMark.of(new Trace.Mark(4, NOW)));
    }
    try (Connection taking = database.connection()) {
      taking.setAutoCommit(false);
      Sql.execute(
          taking,
          "DELETE FROM lockstep.batch_mark WHERE (scope, at, id) IN"
              + " (SELECT scope, at, id FROM lockstep.batch_mark WHERE scope = 4 ORDER BY at, id LIMIT 4)");

      leave(BatchMark.of(new Trace.Mark(4, NOW.plusSeconds(7_200))));

      taking.rollback();
    }
    assertThat(marksOf(4)).as("the four that were locked, and the new one").isEqualTo(5);
  }

  private static long marksOf(long scope) {
    return database.queryLong("SELECT count(*) FROM lockstep.batch_mark WHERE scope = ?", scope);
  }

  private static void leave(BatchMark mark) throws SQLException {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      Sql.execute(connection, "SET LOCAL lock_timeout = '10s'");
      mark.leave(Exchange.within(connection));
      connection.commit();
    }
  }
}
