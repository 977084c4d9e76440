package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.testkit.Race;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Close drains, in bounded time, and leaves neither a thread nor a caller behind. */
@Timeout(60)
class ClosingTest {
  private static final String NAME = "closing";
  private static final CombinerConfig CONFIG = CombinerConfig.named(NAME);
  private static final CombinerConfig IMPATIENT = CONFIG.withDrainTimeout(Duration.ofMillis(50));

  @AfterEach
  void noWriterIsLeft() {
    Await.until("all writers have ended", () -> writers().isEmpty());
  }

  @Test
  void whatWaitsIsFinishedFirst() throws Exception {
    RecordingRunner runner = RecordingRunner.gated(requests -> {});
    Combiner<String, Integer, String> combiner = combiner(runner, CONFIG);
    combiner.submit("k", 0);
    runner.awaitEntered();
    List<CompletionStage<String>> stages = submitTen(combiner);
    Background<Boolean> closing = close(combiner);
    Await.until("close has begun", () -> isClosed(combiner));
    assertThat(closing.isDone()).isFalse();

    runner.release();

    assertThat(closing.result()).isTrue();
    assertThat(stages).allMatch(Answers::isAnswered);
    assertThat(runner.committedOf("k")).hasSize(11);
  }

  @Test
  void aCallerThatIsItsOwnWriterIsWaitedForToo() throws Exception {
    RecordingRunner runner = RecordingRunner.gated(requests -> {});
    Combiner<String, Integer, String> combiner = combiner(runner, CONFIG);
    Background<String> caller = Background.start(() -> combiner.call("k", 0));
    runner.awaitEntered();
    Background<Boolean> closing = close(combiner);
    Await.until("close has begun", () -> isClosed(combiner));

    runner.release();

    assertThat(caller.result()).isEqualTo("k:0");
    assertThat(closing.result()).isTrue();
  }

  @Test
  void afterCloseARequestIsRefusedAtOnce() {
    Combiner<String, Integer, String> combiner = combiner(RecordingRunner.open(), CONFIG);
    combiner.close();
    combiner.close();

    CompletionStage<String> refused = combiner.submit("k", 1);

    assertThat(Answers.isAnswered(refused)).isTrue();
    assertThat(Answers.faultOf(refused)).isInstanceOf(CombinerClosed.class);
    assertThatThrownBy(() -> combiner.call("k", 1)).isInstanceOf(CombinerClosed.class);
  }

  @Test
  void aBatchThatTakesTooLongIsInterruptedAndWhatWaitsIsNotBegun() {
    CountDownLatch never = new CountDownLatch(1);
    RecordingRunner runner =
        RecordingRunner.open(requests -> RecordingRunner.await(never, "an interrupt"));
    Combiner<String, Integer, String> combiner = combiner(runner, IMPATIENT);
    CompletionStage<String> begun = combiner.submit("k", 0);
    runner.awaitEntered();
    List<CompletionStage<String>> waiting = submitTen(combiner);

    combiner.close();

    assertThat(Answers.faultOf(begun)).isInstanceOf(IllegalStateException.class);
    assertThat(waiting).allMatch(stage -> Answers.faultOf(stage) instanceof CombinerClosed);
    assertThat(runner.attempted()).hasSize(1);
  }

  @Test
  void aBatchInterruptedByCloseIsNotSplitAndBegunAgain() {
    CountDownLatch never = new CountDownLatch(1);
    CountDownLatch second = new CountDownLatch(1);
    RecordingRunner runner =
        RecordingRunner.gated(
            requests -> {
              if (!requests.contains(0)) {
                second.countDown();
                RecordingRunner.await(never, "an interrupt");
              }
            });
    Combiner<String, Integer, String> combiner = combiner(runner, IMPATIENT);
    combiner.submit("k", 0);
    runner.awaitEntered();
    List<CompletionStage<String>> batch = submitTen(combiner);
    runner.release();
    RecordingRunner.await(second, "the second batch");

    combiner.close();

    assertThat(batch).allMatch(stage -> Answers.faultOf(stage) instanceof CombinerClosed);
    assertThat(runner.attempted()).as("the first, and the ten once").hasSize(2);
  }

  @Test
  void aBatchThatIgnoresEverythingIsUnknownToItsCallersInBoundedTime() {
    CountDownLatch atLast = new CountDownLatch(1);
    RecordingRunner runner = RecordingRunner.open(requests -> ignoreInterrupts(atLast));
    Combiner<String, Integer, String> combiner = combiner(runner, IMPATIENT);
    CompletionStage<String> stuck = combiner.submit("k", 0);
    runner.awaitEntered();

    combiner.close();

    assertThat(Answers.isAnswered(stuck)).isTrue();
    assertThat(Answers.faultOf(stuck)).isInstanceOf(OutcomeUnknown.class);
    atLast.countDown();
  }

  @Test
  void aCallbackThatBlocksKeepsNeitherCloseNorAnybodyElseFromAnAnswer() {
    CountDownLatch never = new CountDownLatch(1);
    CountDownLatch free = new CountDownLatch(1);
    RecordingRunner runner = RecordingRunner.open(requests -> ignoreInterrupts(never));
    Combiner<String, Integer, String> combiner = new Combiner<>(runner, IMPATIENT);
    List<CompletionStage<String>> blocking = new ArrayList<>();
    try {
      CompletionStage<String> begun = combiner.submit("k", 0);
      blocking.add(begun.whenComplete((answer, thrown) -> RecordingRunner.await(free, "the end")));
      runner.awaitEntered();
      blocking.add(
          combiner
              .submit("k", 1)
              .whenComplete((answer, thrown) -> RecordingRunner.await(free, "the end")));
      CompletionStage<String> neighbour = combiner.submit("k", 2);

      combiner.close();

      assertThat(Answers.faultOf(begun)).isInstanceOf(OutcomeUnknown.class);
      assertThat(Answers.faultOf(neighbour)).isInstanceOf(CombinerClosed.class);
      assertThat(blocking).noneMatch(Answers::isAnswered);
    } finally {
      free.countDown();
      never.countDown();
    }
  }

  @Test
  void nobodyIsLeftWithoutAnAnswerWhenManySubmitDuringClose() throws InterruptedException {
    for (int round = 0; round < 20; round++) {
      RecordingRunner runner = RecordingRunner.open();
      Combiner<String, Integer, String> combiner = combiner(runner, CONFIG.withMaxWriters(2));
      int answered = 0;

      List<List<CompletionStage<String>>> submitted =
          Race.<List<CompletionStage<String>>>of(8)
              .run(
                  caller -> {
                    if (caller == 0) {
                      combiner.close();
                      return List.of();
                    }
                    return IntStream.range(0, 50)
                        .mapToObj(i -> combiner.submit("k" + i % 5, caller * 100 + i))
                        .toList();
                  })
              .valuesOrThrow();

      for (CompletionStage<String> stage : flatten(submitted)) {
        assertThat(Answers.isAnswered(stage)).isTrue();
        if (!stage.toCompletableFuture().isCompletedExceptionally()) {
          answered++;
        }
      }
      int effects = runner.committed().stream().mapToInt(ran -> ran.requests().size()).sum();
      assertThat(effects).isEqualTo(answered);
    }
  }

  @Test
  void asManyWritersAsAreAskedForAreStartedEvenIfOthersAreStillOnTheirWayOut() {
    CountDownLatch all = new CountDownLatch(50);
    CountDownLatch end = new CountDownLatch(1);

    try (WriterThreads threads = new WriterThreads(NAME)) {
      for (int i = 0; i < 50; i++) {
        threads.start(
            () -> {
              all.countDown();
              RecordingRunner.await(end, "the end");
            });
      }
      RecordingRunner.await(all, "fifty writers");
      end.countDown();
    }
  }

  private static List<CompletionStage<String>> submitTen(
      Combiner<String, Integer, String> combiner) {
    return IntStream.rangeClosed(1, 10).mapToObj(i -> combiner.submit("k", i)).toList();
  }

  private static Background<Boolean> close(Combiner<?, ?, ?> combiner) {
    return Background.start(
        () -> {
          combiner.close();
          return true;
        });
  }

  private static boolean isClosed(Combiner<String, Integer, String> combiner) {
    CompletionStage<String> probe = combiner.submit("probe", 0);
    return probe.toCompletableFuture().isCompletedExceptionally();
  }

  private static void ignoreInterrupts(CountDownLatch latch) {
    boolean done = false;
    while (!done) {
      try {
        latch.await();
        done = true;
      } catch (InterruptedException e) {
        // This is the point.
      }
    }
  }

  private static <T> List<T> flatten(List<List<T>> lists) {
    List<T> all = new ArrayList<>();
    lists.forEach(all::addAll);
    return all;
  }

  private static List<String> writers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(Thread::isAlive)
        .map(Thread::getName)
        .filter(name -> name.startsWith(NAME + "-writer-"))
        .toList();
  }

  private static Combiner<String, Integer, String> combiner(
      RecordingRunner runner, CombinerConfig config) {
    return new Combiner<>(runner, config, ForkJoinPool.commonPool());
  }
}
