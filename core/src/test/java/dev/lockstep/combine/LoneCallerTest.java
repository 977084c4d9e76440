package dev.lockstep.combine;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

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
  void itsAnswerTakesNoDetourOverAnotherThread() {
    RecordingRunner runner = RecordingRunner.open();

    try (Combiner<String, Integer, String> combiner =
        new Combiner<>(
            runner,
            CombinerConfig.named("lone"),
            task -> {
              throw new AssertionError("no executor is needed");
            })) {
      assertThat(combiner.call("k", 1)).isEqualTo(RecordingRunner.answerTo("k", 1));
    }
  }

  @Test
  void theCombinerHasNoTimerAndNeverSleeps() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .areAssignableTo(ScheduledExecutorService.class)
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
