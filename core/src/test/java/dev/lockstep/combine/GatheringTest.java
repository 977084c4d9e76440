package dev.lockstep.combine;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.RecordingRunner.Ran;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * A busy key waits for company between two batches, as long as it is told to and nobody else is
 * kept waiting by it.
 */
class GatheringTest {
  private static final Duration FOR_EVER = Duration.ofDays(1);

  @Test
  void aBusyKeyGathersUntilItHasEnough() throws Exception {
    try (Served served = new Served(Gathering.BUSY, FOR_EVER)) {
      for (int i = 2; i <= Gathering.ENOUGH; i++) {
        served.combiner.submit("a", 1000 + i);
      }

      assertThat(served.late.get(60, SECONDS)).isEqualTo("a:1001");
      assertThat(served.sizes()).containsExactly(1, Gathering.BUSY, Gathering.ENOUGH);
    }
  }

  @Test
  void aKeyThatIsNotBusyIsServedAtOnce() throws Exception {
    try (Served served = new Served(Gathering.BUSY - 1, FOR_EVER)) {
      assertThat(served.late.get(60, SECONDS)).isEqualTo("a:1001");
      assertThat(served.sizes()).containsExactly(1, Gathering.BUSY - 1, 1);
    }
  }

  @Test
  void gatheringEndsWithItsTime() throws Exception {
    try (Served served = new Served(Gathering.BUSY, Duration.ofMillis(1))) {
      assertThat(served.late.get(60, SECONDS)).isEqualTo("a:1001");
    }
  }

  /** There is one writer, and it would wait for the one key while the other wants it. */
  @Test
  void anotherKeyEndsIt() throws Exception {
    try (Served served = new Served(Gathering.BUSY, FOR_EVER)) {
      CompletableFuture<String> other = served.combiner.submit("b", 1).toCompletableFuture();

      assertThat(other.get(60, SECONDS)).isEqualTo("b:1");
      assertThat(served.late.get(60, SECONDS)).isEqualTo("a:1001");
    }
  }

  @Test
  void closingEndsIt() {
    Served served = new Served(Gathering.BUSY, FOR_EVER);

    served.close();

    assertThat(served.late).isCompletedWithValue("a:1001");
  }

  /** A key that has had a batch of so many, while which was written one more request came. */
  private static final class Served implements AutoCloseable {
    final CompletableFuture<String> late = new CompletableFuture<>();
    final Combiner<String, Integer, String> combiner;
    private final int requests;
    private final RecordingRunner runner;

    Served(int requests, Duration gather) {
      this.requests = requests;
      runner = RecordingRunner.gated(this::write);
      combiner =
          new Combiner<>(
              runner,
              CombinerConfig.named("gathering")
                  .withMaxWriters(1)
                  .withGather(gather)
                  .withDrainTimeout(Duration.ofSeconds(60)),
              ForkJoinPool.commonPool());
      combiner.submit("a", 0);
      runner.awaitEntered();
      List<CompletableFuture<String>> answers =
          IntStream.rangeClosed(1, requests)
              .mapToObj(i -> combiner.submit("a", i).toCompletableFuture())
              .toList();
      runner.release();
      answers.forEach(CompletableFuture::join);
    }

    private void write(List<Integer> batch) {
      if (batch.size() == requests) {
        combiner.submit("a", 1001).whenComplete((answer, thrown) -> late.complete(answer));
      }
    }

    List<Integer> sizes() {
      return runner.committed().stream().map(Ran::requests).map(List::size).toList();
    }

    @Override
    public void close() {
      combiner.close();
    }
  }
}
