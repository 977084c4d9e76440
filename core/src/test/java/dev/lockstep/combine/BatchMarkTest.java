package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Exchange;
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

  private static long marksOf(long scope) {
    return database.queryLong("SELECT count(*) FROM lockstep.batch_mark WHERE scope = ?", scope);
  }

  private static void leave(BatchMark mark) throws SQLException {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      mark.leave(Exchange.within(connection));
      connection.commit();
    }
  }
}
