package dev.lockstep.combine;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import java.util.List;
import java.util.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One caller is not delayed: its request is a batch of one, begun at once, on no timer. */
class LoneCallerTest {
  private static final JavaClasses COMBINE =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.lockstep.combine");

  @Test
  void everyRequestOfALoneCallerIsABatchOfOne() {
    RecordingRunner runner = RecordingRunner.open();

    try (Combiner<String, Integer, String> combiner =
        new Combiner<>(runner, CombinerConfig.named("lone"), ForkJoinPool.commonPool())) {
      for (int i = 0; i < 100; i++) {
        assertThat(combiner.call("k", i)).isEqualTo(RecordingRunner.answerTo("k", i));
      }
    }

    assertThat(runner.attempted())
        .extracting(RecordingRunner.Ran::requests)
        .isEqualTo(IntStream.range(0, 100).mapToObj(List::of).toList());
  }

  @Test
  void noOtherThreadHasToWakeUpForIt() {
    List<Thread> ranOn = new CopyOnWriteArrayList<>();

    try (Combiner<String, Integer, String> combiner =
        new Combiner<>(
            RecordingRunner.open(requests -> ranOn.add(Thread.currentThread())),
            CombinerConfig.named("lone"),
            task -> {
              throw new AssertionError("no executor is needed");
            })) {
      combiner.call("k", 1);
    }

    assertThat(ranOn).containsExactly(Thread.currentThread());
  }

  @Test
  void itServesNobodyElse() throws Exception {
    List<String> ranOn = new CopyOnWriteArrayList<>();
    RecordingRunner runner =
        RecordingRunner.gated(requests -> ranOn.add(Thread.currentThread().getName()));

    try (Combiner<String, Integer, String> combiner =
        new Combiner<>(runner, CombinerConfig.named("lone"), ForkJoinPool.commonPool())) {
      Background<String> lone = Background.start(() -> combiner.call("k", 0));
      runner.awaitEntered();
      CompletionStage<String> other = combiner.submit("k", 1);
      runner.release();

      assertThat(lone.result()).isEqualTo("k:0");
      assertThat(Answers.of(other)).isEqualTo("k:1");
    }

    assertThat(ranOn).hasSize(2);
    assertThat(ranOn.get(0)).isEqualTo(Background.THREAD);
    assertThat(ranOn.get(1)).startsWith("lone-writer-");
  }

  @ParameterizedTest
  @CsvSource({"k, 4", "other, 1"})
  void aSecondCallerOfTheKeyOrBeyondTheLastWriterQueues(String key, int maxWriters)
      throws Exception {
    RecordingRunner runner = RecordingRunner.gated(requests -> {});

    try (Combiner<String, Integer, String> combiner =
        new Combiner<>(
            runner,
            CombinerConfig.named("lone").withMaxWriters(maxWriters),
            ForkJoinPool.commonPool())) {
      Background<String> first = Background.start(() -> combiner.call("k", 0));
      runner.awaitEntered();
      Background<String> second = Background.start(() -> combiner.call(key, 1));
      Await.until("the second waits", () -> combiner.waiting() == 1);
      runner.release();

      assertThat(first.result()).isEqualTo("k:0");
      assertThat(second.result()).isEqualTo(key + ":1");
    }
    assertThat(runner.mostWriters()).isEqualTo(1);
  }

  @Test
  void aCallerThatWasInterruptedGetsItsAnswerAllTheSame() {
    List<String> ranOn = new CopyOnWriteArrayList<>();

    try (Combiner<String, Integer, String> combiner =
        new Combiner<>(
            RecordingRunner.open(requests -> ranOn.add(Thread.currentThread().getName())),
            CombinerConfig.named("lone"),
            ForkJoinPool.commonPool())) {
      Thread.currentThread().interrupt();
      assertThat(combiner.call("k", 1)).isEqualTo("k:1");
      assertThat(Thread.interrupted()).as("and is still interrupted").isTrue();
    }

    assertThat(ranOn.get(0)).startsWith("lone-writer-");
  }

  @Test
  void theCombinerHasNoTimerAndNeverSleeps() {
    noClasses()
        .that()
        // They submit to a combiner, from time to time or once more, and are no part of it; run
        // callbacks when it is done; or check what it wrote.
        .doNotBelongToAnyOf(
            Sweeper.class, ProvisionalRetry.class, CallbackThreads.class, Slices.class)
        .should()
        // Since Java 25 a ForkJoinPool is one, too.
        .dependOnClassesThat(
            assignableTo(ScheduledExecutorService.class).and(not(type(ForkJoinPool.class))))
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(Timer.class)
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(LockSupport.class)
        .orShould()
        .callMethod(Thread.class, "sleep", long.class)
        .orShould()
        .callMethod(TimeUnit.class, "sleep", long.class)
        .orShould()
        .callMethod(CompletableFuture.class, "delayedExecutor", long.class, TimeUnit.class)
        .orShould()
        .callMethod(
            CompletableFuture.class, "completeOnTimeout", Object.class, long.class, TimeUnit.class)
        .check(COMBINE);
  }
}
