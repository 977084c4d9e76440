package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.RecordingRunner.Ran;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * Requests below zero are of the left half of their key, those above it of the right one; zero
 * touches both. A first zero keeps the key busy until everything is queued.
 */
class HalvesTest {
  private static final CombinerConfig CONFIG = CombinerConfig.named("halves");

  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch queued = new CountDownLatch(1);

  @Test
  void underARushTheHalvesOfAKeyAreWrittenAtTheSameTime() {
    CountDownLatch both = new CountDownLatch(2);
    Halved runner =
        new Halved(
            requests -> {
              both.countDown();
              RecordingRunner.await(both, "the other half");
            });

    try (Combiner<String, Integer, String> combiner = combiner(runner)) {
      queue(combiner, many(-1), many(1));
    }

    assertThat(runner.ran()).hasSize(3);
    assertThat(runner.ran().subList(1, 3))
        .containsExactlyInAnyOrder(new Ran("key", many(-1)), new Ran("key", many(1)));
  }

  @Test
  void fewAreWrittenTogetherInTheOrderTheyCame() {
    Halved runner = new Halved(requests -> {});
    List<Integer> few = many(-1).subList(1, Lane.MANY);

    try (Combiner<String, Integer, String> combiner = combiner(runner)) {
      queue(combiner, many(1), few);
    }

    assertThat(runner.ran().subList(1, 2)).containsExactly(new Ran("key", concat(many(1), few)));
  }

  @Test
  void whatTouchesBothHalvesIsWrittenTogetherWithAllThatWaits() {
    Halved runner = new Halved(requests -> {});

    try (Combiner<String, Integer, String> combiner = combiner(runner)) {
      queue(combiner, many(-1), many(1), List.of(0), many(-1));
    }

    assertThat(runner.ran().subList(1, 2))
        .containsExactly(new Ran("key", concat(many(-1), many(1), List.of(0), many(-1))));
  }

  @Test
  void noHalfIsBegunWhileSomethingWaitsThatTouchesBoth() {
    CountDownLatch halvesBegun = new CountDownLatch(2);
    CountDownLatch leftMayEnd = new CountDownLatch(1);
    Halved runner =
        new Halved(
            requests -> {
              halvesBegun.countDown();
              if (requests.get(0) < 0) {
                RecordingRunner.await(leftMayEnd, "the left half's end");
              }
            });

    try (Combiner<String, Integer, String> combiner = combiner(runner)) {
      CompletionStage<String> right = queue(combiner, many(-1), many(1));
      RecordingRunner.await(halvesBegun, "both halves");
      combiner.submit("key", 0);
      assertThat(right.toCompletableFuture().join()).isEqualTo("1");
      many(1).forEach(request -> combiner.submit("key", request));
      leftMayEnd.countDown();
    }

    assertThat(runner.ran().subList(1, 4))
        .containsExactly(
            new Ran("key", many(1)),
            new Ran("key", many(-1)),
            new Ran("key", concat(List.of(0), many(1))));
  }

  private static Combiner<String, Integer, String> combiner(Halved runner) {
    return new Combiner<>(runner, CONFIG, ForkJoinPool.commonPool());
  }

  /** Returns the answer to the last of the requests, which all wait until they are all there. */
  @SafeVarargs
  private CompletionStage<String> queue(
      Combiner<String, Integer, String> combiner, List<Integer>... requests) {
    CompletionStage<String> last = combiner.submit("key", 0);
    RecordingRunner.await(begun, "the first batch");
    for (int request : concat(requests)) {
      last = combiner.submit("key", request);
    }
    queued.countDown();
    return last;
  }

  /** As many as make a batch of a half. */
  private static List<Integer> many(int request) {
    return Collections.nCopies(Lane.MANY, request);
  }

  @SafeVarargs
  private static List<Integer> concat(List<Integer>... parts) {
    List<Integer> all = new ArrayList<>();
    for (List<Integer> part : parts) {
      all.addAll(part);
    }
    return all;
  }

  /** Runs a batch that the test may hold up; the first one waits for what is to be queued. */
  private final class Halved implements BatchRunner<String, Integer, String> {
    private final Consumer<List<Integer>> during;
    private final List<Ran> ran = Collections.synchronizedList(new ArrayList<>());

    Halved(Consumer<List<Integer>> during) {
      this.during = during;
    }

    @Override
    public Half half(Integer request) {
      if (request == 0) {
        return Half.BOTH;
      }
      return request < 0 ? Half.LEFT : Half.RIGHT;
    }

    @Override
    public List<String> run(String key, List<Integer> requests) {
      if (begun.getCount() > 0) {
        begun.countDown();
        RecordingRunner.await(queued, "the rush");
      } else {
        during.accept(requests);
      }
      ran.add(new Ran(key, List.copyOf(requests)));
      return requests.stream().map(String::valueOf).toList();
    }

    /** In the order they ended. */
    List<Ran> ran() {
      return ran;
    }
  }
}
