package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.RecordingRunner.Ran;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import org.junit.jupiter.api.Test;

/** Keys take turns, however much waits for one of them. */
class FairnessTest {
  private static final CombinerConfig ONE_WRITER =
      CombinerConfig.named("fairness").withMaxWriters(1).withMaxBatch(10);

  @Test
  void aHotKeyDoesNotStopAnotherFromBeingServedInItsTurn() {
    RecordingRunner runner = RecordingRunner.gated(requests -> {});

    try (Combiner<String, Integer, String> combiner =
        new Combiner<>(runner, ONE_WRITER, ForkJoinPool.commonPool())) {
      combiner.submit("hot", 0);
      runner.awaitEntered();
      for (int i = 1; i <= 5000; i++) {
        combiner.submit("hot", i);
      }
      combiner.submit("cold", 1);
      combiner.submit("colder", 1);
      runner.release();
    }

    List<String> turns = runner.committed().stream().map(Ran::key).toList();
    assertThat(turns).startsWith("hot", "cold", "colder", "hot").hasSize(1 + 2 + 500);
    assertThat(runner.committedOf("hot")).hasSize(5001).isSorted();
  }

  @Test
  void keysThatAllHaveMoreWaitingThanABatchAlternate() {
    RecordingRunner runner = RecordingRunner.gated(requests -> {});

    try (Combiner<String, Integer, String> combiner =
        new Combiner<>(runner, ONE_WRITER, ForkJoinPool.commonPool())) {
      combiner.submit("gate", 0);
      runner.awaitEntered();
      for (int i = 0; i < 30; i++) {
        combiner.submit("a", i);
        combiner.submit("b", i);
        combiner.submit("c", i);
      }
      runner.release();
    }

    assertThat(runner.committed().stream().map(Ran::key))
        .containsExactly("gate", "a", "b", "c", "a", "b", "c", "a", "b", "c");
  }

  @Test
  void thousandsOfKeysShareFewWriters() {
    RecordingRunner runner = RecordingRunner.open();

    try (Combiner<String, Integer, String> combiner =
        new Combiner<>(runner, ONE_WRITER.withMaxWriters(3), ForkJoinPool.commonPool())) {
      for (int round = 0; round < 3; round++) {
        for (int key = 0; key < 3000; key++) {
          combiner.submit("k" + key, round);
        }
      }
    }

    assertThat(runner.mostWriters()).isLessThanOrEqualTo(3);
    assertThat(runner.mostWritersOfAKey()).isEqualTo(1);
    for (int key = 0; key < 3000; key++) {
      assertThat(runner.committedOf("k" + key)).containsExactly(0, 1, 2);
    }
  }
}
