package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.RecordingRunner.Busy;
import dev.lockstep.combine.RecordingRunner.Poisoned;
import dev.lockstep.combine.RecordingRunner.Ran;
import dev.lockstep.fault.OutcomeUnknown;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ForkJoinPool;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** What holds for any submissions, batch sizes, failures and closes. */
class CombinerPropertiesTest {

  /** How a request fares in the database, whoever it is batched with. */
  enum Nature {
    GOOD,
    POISONED,
    BUSY,
    BROKEN,
    LOST_IN_COMMIT
  }

  record Submission(int key, Nature nature) {}

  @Property(tries = 300)
  void everyRequestIsAnsweredOnceAndTheAnswerIsTrue(
      @ForAll("submissions") List<Submission> submissions,
      @ForAll @IntRange(min = 1, max = 3) int maxWriters,
      @ForAll @IntRange(min = 1, max = 9) int maxBatch,
      @ForAll @IntRange(min = 1, max = 40) int maxWaiting,
      @ForAll @IntRange(min = 0, max = 60) int closeAfter) {
    RecordingRunner runner = RecordingRunner.open(requests -> fail(submissions, requests));
    CombinerConfig config =
        config()
            .withMaxWriters(maxWriters)
            .withMaxBatch(maxBatch)
            .withMaxWaiting(maxWaiting, maxWaiting);
    List<CompletionStage<String>> stages = new ArrayList<>();
    Combiner<String, Integer, String> combiner = combiner(runner, config);
    for (int i = 0; i < submissions.size(); i++) {
      if (i == closeAfter) {
        combiner.close();
      }
      stages.add(combiner.submit("k" + submissions.get(i).key(), i));
    }
    combiner.close();

    assertThat(stages).allMatch(Answers::isAnswered);
    Map<Integer, Integer> effects = effects(runner.committed());
    for (int i = 0; i < stages.size(); i++) {
      assertTrue(submissions.get(i), i, stages.get(i), effects.getOrDefault(i, 0));
    }
    assertThat(runner.mostWriters()).isLessThanOrEqualTo(maxWriters);
    assertThat(runner.mostWritersOfAKey()).isLessThanOrEqualTo(1);
    assertThat(runner.attempted()).allMatch(ran -> ran.requests().size() <= maxBatch);
  }

  @Property(tries = 200)
  void requestsOfAKeyTakeEffectInTheOrderTheyCame(
      @ForAll("submissions") List<Submission> submissions,
      @ForAll @IntRange(min = 1, max = 3) int maxWriters,
      @ForAll @IntRange(min = 1, max = 9) int maxBatch) {
    RecordingRunner runner = RecordingRunner.open(requests -> fail(submissions, requests));

    try (Combiner<String, Integer, String> combiner =
        combiner(runner, config().withMaxWriters(maxWriters).withMaxBatch(maxBatch))) {
      for (int i = 0; i < submissions.size(); i++) {
        combiner.submit("k" + submissions.get(i).key(), i);
      }
    }

    for (int key = 0; key < 4; key++) {
      assertThat(runner.committedOf("k" + key)).isSorted();
    }
  }

  @Property(tries = 200)
  void whateverRequestsOfABatchArePoisonedTheyAloneFail(
      @ForAll @IntRange(min = 1, max = 40) int size,
      @ForAll @Size(max = 40) Set<@IntRange(min = 1, max = 40) Integer> poisoned) {
    RecordingRunner runner =
        RecordingRunner.gated(
            requests -> {
              if (requests.stream().anyMatch(poisoned::contains)) {
                throw new Poisoned();
              }
            });
    List<CompletionStage<String>> stages = new ArrayList<>();

    try (Combiner<String, Integer, String> combiner = combiner(runner, config())) {
      combiner.submit("k", 0);
      runner.awaitEntered();
      for (int i = 1; i <= size; i++) {
        stages.add(combiner.submit("k", i));
      }
      runner.release();
    }

    assertThat(runner.attempted().get(1).requests()).as("one batch").hasSize(size);
    for (int i = 1; i <= size; i++) {
      CompletionStage<String> stage = stages.get(i - 1);
      if (poisoned.contains(i)) {
        assertThat(Answers.faultOf(stage)).isInstanceOf(Poisoned.class);
      } else {
        assertThat(Answers.of(stage)).isEqualTo(RecordingRunner.answerTo("k", i));
      }
    }
    assertThat(runner.committedOf("k")).isSorted().noneMatch(poisoned::contains);
  }

  @Property(tries = 100)
  void theQueueNeverHoldsMoreThanItsBounds(
      @ForAll @IntRange(min = 1, max = 20) int perKey,
      @ForAll @IntRange(min = 0, max = 40) int more,
      @ForAll @Size(min = 1, max = 80) List<@IntRange(min = 0, max = 3) Integer> keys) {
    RecordingRunner runner = RecordingRunner.gated(requests -> {});
    int inAll = perKey + more;
    Map<Integer, Integer> waiting = new HashMap<>();

    try (Combiner<String, Integer, String> combiner =
        combiner(runner, config().withMaxWriters(1).withMaxWaiting(inAll, perKey))) {
      combiner.submit("first", 0);
      runner.awaitEntered();
      for (int key : keys) {
        int all = waiting.values().stream().mapToInt(Integer::intValue).sum();
        boolean room = all < inAll && waiting.getOrDefault(key, 0) < perKey;
        CompletionStage<String> stage = combiner.submit("k" + key, 1);
        assertThat(Answers.isAnswered(stage)).as("refused at once").isEqualTo(!room);
        if (room) {
          waiting.merge(key, 1, Integer::sum);
        } else {
          Overloaded refusal = (Overloaded) Answers.faultOf(stage);
          assertThat(refusal.retryAfter()).isBetween(Duration.ofMillis(50), Duration.ofSeconds(30));
        }
        assertThat(combiner.waiting()).isLessThanOrEqualTo(inAll);
      }
      runner.release();
    }
  }

  @Property
  void aRetryAfterIsBetweenFiftyMillisecondsAndThirtySeconds(
      @ForAll @Size(max = 50) List<@IntRange(min = 1, max = 500) Integer> batches,
      @ForAll long elapsedNanos,
      @ForAll @IntRange(min = 0) int waiting,
      @ForAll @IntRange(min = 1, max = 64) int writers) {
    ServiceRate rate = new ServiceRate();
    batches.forEach(batch -> rate.served(batch, elapsedNanos & Long.MAX_VALUE));

    assertThat(rate.retryAfter(waiting, writers))
        .isBetween(Duration.ofMillis(50), Duration.ofSeconds(30));
  }

  @Provide
  Arbitrary<List<Submission>> submissions() {
    // Mostly good, as in life: failures that hit everything would show little.
    Arbitrary<Nature> natures =
        Arbitraries.frequencyOf(
            Tuple.of(12, Arbitraries.just(Nature.GOOD)), Tuple.of(1, Arbitraries.of(Nature.class)));
    return Combinators.combine(Arbitraries.integers().between(0, 3), natures)
        .as(Submission::new)
        .list()
        .ofMaxSize(60);
  }

  private static void fail(List<Submission> submissions, List<Integer> requests) {
    Set<Nature> natures = new HashSet<>();
    requests.forEach(i -> natures.add(submissions.get(i).nature()));
    if (natures.contains(Nature.LOST_IN_COMMIT)) {
      throw new OutcomeUnknown("lost in COMMIT", null);
    }
    if (natures.contains(Nature.BUSY)) {
      throw new Busy();
    }
    if (natures.contains(Nature.POISONED)) {
      throw new Poisoned();
    }
    if (natures.contains(Nature.BROKEN)) {
      throw new StackOverflowError("broken");
    }
  }

  private static Map<Integer, Integer> effects(List<Ran> committed) {
    Map<Integer, Integer> effects = new HashMap<>();
    committed.forEach(ran -> ran.requests().forEach(i -> effects.merge(i, 1, Integer::sum)));
    return effects;
  }

  private static void assertTrue(
      Submission submission, int request, CompletionStage<String> stage, int effects) {
    if (!stage.toCompletableFuture().isCompletedExceptionally()) {
      assertThat(Answers.of(stage))
          .isEqualTo(RecordingRunner.answerTo("k" + submission.key(), request));
      assertThat(effects).isEqualTo(1);
      return;
    }
    assertThat(effects).as("refused, so without effect").isZero();
    Throwable fault = Answers.faultOf(stage);
    switch (submission.nature()) {
      // Its batch may have met a busy database or a lost commit, but never a neighbour's mistake.
      case GOOD ->
          assertThat(fault)
              .isInstanceOfAny(
                  Busy.class, OutcomeUnknown.class, Overloaded.class, CombinerClosed.class);
      case BROKEN -> assertThat(fault).isNotInstanceOf(Poisoned.class);
      case POISONED -> assertThat(fault).isNotInstanceOf(StackOverflowError.class);
      case BUSY, LOST_IN_COMMIT -> assertThat(fault).isNotNull();
    }
  }

  private static CombinerConfig config() {
    return CombinerConfig.named("properties");
  }

  private static Combiner<String, Integer, String> combiner(
      RecordingRunner runner, CombinerConfig config) {
    return new Combiner<>(runner, config, ForkJoinPool.commonPool());
  }
}
