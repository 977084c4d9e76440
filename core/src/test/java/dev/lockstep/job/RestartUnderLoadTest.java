package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The database stops as in a power cut and comes back while jobs are being done. */
class RestartUnderLoadTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.ownServer(true);
  @RegisterExtension final Desk desk = new Desk(database);

  @Test
  void everyJobIsDoneAndItsEffectHappensOnce() throws Exception {
    int count = 100;
    desk.enqueueMany(count);
    desk.start(4, Desk::effect);
    desk.start(4, Desk::effect);
    Await.until("well under way", () -> !desk.effects().isEmpty());

    database.server().crash();
    database.server().restart();

    desk.awaitNoneLive();
    assertThat(desk.effects())
        .containsExactlyInAnyOrderElementsOf(
            IntStream.range(0, count).mapToObj(Integer::toString).toList());
  }
}
