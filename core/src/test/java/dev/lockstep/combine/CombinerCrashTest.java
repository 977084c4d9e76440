package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.TransientFault;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Transactor;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The server stops as in a power cut under a combiner's load, and comes back. */
class CombinerCrashTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.ownServer(true);

  private static final int CALLERS = 50;
  private static final int EACH = 40;

  private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
  private final Set<String> unknown = ConcurrentHashMap.newKeySet();
  private final CountDownLatch underWay = new CountDownLatch(CALLERS * EACH / 4);

  @Test
  void everyAcknowledgedTicketIsThereAndNoOtherUnlessItsOutcomeWasUnknown() throws Exception {
    Tickets.createTables(database);
    Background<Boolean> crash =
        Background.start(
            () -> {
              underWay.await();
              database.server().crash();
              database.server().restart();
              return true;
            });

    try (Combiner<Integer, String, Long> tickets =
        Combiner.on(
            new Transactor(database.dataSource()), new Tickets(), CombinerConfig.named("crash"))) {
      Race.<Boolean>of(CALLERS).run(caller -> takeMany(tickets, caller)).valuesOrThrow();
    }

    crash.result();
    Set<String> there =
        new HashSet<>(database.query("SELECT holder FROM ticket", r -> r.getString(1)));
    assertThat(there).containsAll(acknowledged);
    Set<String> accountedFor = new HashSet<>(acknowledged);
    accountedFor.addAll(unknown);
    assertThat(accountedFor).containsAll(there);
    assertThat(database.queryLong("SELECT sum(value) FROM counter")).isEqualTo(there.size());
    // With a lookup, a server that comes back within the deadline leaves nothing unknown.
    assertThat(unknown).isEmpty();
  }

  private boolean takeMany(Combiner<Integer, String, Long> tickets, int caller) {
    for (int n = 0; n < EACH; n++) {
      String holder = caller + "-" + n;
      try {
        tickets.call(1 + caller % 2, holder);
        acknowledged.add(holder);
      } catch (OutcomeUnknown e) {
        unknown.add(holder);
      } catch (TransientFault e) {
        // Refused for now, and so without effect; the check at the end would see one.
      }
      underWay.countDown();
    }
    return true;
  }
}
