package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** All that use the jobs of a database agree on the number of shards, or are refused. */
class ShardCountTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private final Jobs other = new Jobs(desk.transactor(), JobsConfig.DEFAULT.withShards(32));

  @Test
  void aNodeThatOnlyEnqueuesIsRefusedWithBothNumbers() {
    desk.start(2, desk::note);
    NewJob job = Desk.job(1);

    assertThatThrownBy(() -> desk.transactor().run(c -> other.enqueue(c, job)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("8")
        .hasMessageContaining("32");
    assertThatThrownBy(
            () -> desk.transactor().run(c -> other.enqueueAll(c, Collections.nCopies(50, job))))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> desk.transactor().run(c -> other.copy(c, List.of(job).iterator())))
        .isInstanceOf(IllegalStateException.class);
    desk.enqueueMany(50);
    desk.awaitNoneLive();

    assertThat(desk.ran).hasSize(50);
  }

  @Test
  void whoeverEnqueuesFirstDecidesForThoseThatWork() {
    desk.transactor().run(c -> other.enqueue(c, Desk.job(1)));

    assertThatThrownBy(() -> desk.start(1, desk::note))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("8")
        .hasMessageContaining("32");
    desk.start(other, Desk.worker(1), desk::note);
    desk.awaitNoneLive();
  }

  @Test
  void aFirstUseThatIsRolledBackDecidesNothing() throws Exception {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      other.enqueue(connection, Desk.job(1));
      // Seen by the same transaction, and no more certain for that.
      other.enqueue(connection, Desk.job(2));
      connection.rollback();
    }
    desk.enqueue(Desk.job(3));

    assertThatThrownBy(() -> desk.transactor().run(c -> other.enqueue(c, Desk.job(4))))
        .isInstanceOf(IllegalStateException.class);
    assertThat(desk.live()).isEqualTo(1);
  }

  @Test
  void changesAndListsAreRefusedToo() {
    JobId id = desk.enqueue(Desk.job(1));

    assertThatThrownBy(() -> desk.transactor().run(c -> other.cancel(c, id, OptionalInt.empty())))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> other.list(JobFilter.ALL, Optional.empty(), 10))
        .isInstanceOf(IllegalStateException.class);
    assertThat(desk.live()).isEqualTo(1);
  }
}
