package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who listens hears of every batch: that it has its rows, and how many requests it decided. */
class CombinerListenerTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private final List<Duration> locked = new CopyOnWriteArrayList<>();
  private final List<Integer> decided = new CopyOnWriteArrayList<>();

  @Test
  void everyRequestIsInExactlyOneBatchThatIsHeardOf() throws Exception {
    Tickets.createTables(database);
    CombinerConfig config = CombinerConfig.named("heard").withListener(new Recorder());
    try (Combiner<Integer, String, Long> tickets =
        Combiner.on(new Transactor(database.dataSource()), new Tickets(), config)) {
      Race.<Long>of(50).run(i -> tickets.call(1, "caller-" + i)).valuesOrThrow();
    }
    assertThat(decided.stream().mapToInt(Integer::intValue).sum()).isEqualTo(50);
    assertThat(locked).hasSameSizeAs(decided).allMatch(took -> !took.isNegative());
  }

  private final class Recorder implements CombinerListener {
    @Override
    public void onLocked(Duration took) {
      locked.add(took);
    }

    @Override
    public void onBatch(int requests, Duration took) {
      decided.add(requests);
    }
  }
}
