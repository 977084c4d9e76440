package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.combine.RecordingRunner.Busy;
import dev.lockstep.combine.RecordingRunner.Poisoned;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.sql.CallResult;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whatever throws, every caller gets an answer, and the right one. */
@Timeout(60)
class CombinerFaultsTest {
  private static final CombinerConfig CONFIG = CombinerConfig.named("faults");

  @Test
  void aTransientFaultFailsTheBatchWithoutSplittingIt() {
    RecordingRunner runner = RecordingRunner.gated(failing(new Busy()));

    List<CompletionStage<String>> stages = batchOf(8, runner);

    assertThat(stages).allMatch(stage -> Answers.faultOf(stage) instanceof Busy);
    assertThat(runner.attempted()).as("each batch once").hasSize(2);
  }

  @Test
  void anUnknownOutcomeIsNeitherTriedAgainNorSplit() {
    RecordingRunner runner =
        RecordingRunner.gated(failing(new OutcomeUnknown("lost in COMMIT", null)));

    List<CompletionStage<String>> stages = batchOf(8, runner);

    assertThat(stages).allMatch(stage -> Answers.faultOf(stage) instanceof OutcomeUnknown);
    assertThat(runner.attempted()).hasSize(2);
  }

  @Test
  void aFaultThatNoRequestOutlivesIsGivenToEachCaller() {
    RecordingRunner runner = RecordingRunner.gated(failing(new Poisoned()));

    List<CompletionStage<String>> stages = batchOf(8, runner);

    assertThat(stages).allMatch(stage -> Answers.faultOf(stage) instanceof Poisoned);
    // The one before, then 8, twice 4, four times 2, eight times 1.
    assertThat(runner.attempted()).hasSize(1 + 15);
  }

  @Test
  void aTransientFaultWhileSplittingFailsOnlyItsHalf() {
    RecordingRunner runner =
        RecordingRunner.gated(
            requests -> {
              if (requests.contains(1)) {
                throw new Poisoned();
              }
              if (requests.contains(3)) {
                throw new Busy();
              }
            });

    List<CompletionStage<String>> stages = batchOf(4, runner);

    assertThat(Answers.faultOf(stages.get(0))).isInstanceOf(Poisoned.class);
    assertThat(Answers.of(stages.get(1))).isEqualTo("k:2");
    assertThat(Answers.faultOf(stages.get(2))).isInstanceOf(Busy.class);
    assertThat(Answers.faultOf(stages.get(3))).isInstanceOf(Busy.class);
  }

  @Test
  void anErrorIsGivenToTheCallerThatCausedItAndTheWriterLivesOn() {
    RecordingRunner runner =
        RecordingRunner.open(
            requests -> {
              if (requests.contains(13)) {
                throw new OutOfMemoryError("only a drill");
              }
            });

    try (Combiner<String, Integer, String> combiner = combiner(runner, CONFIG)) {
      assertThatThrownBy(() -> combiner.call("k", 13)).isInstanceOf(OutOfMemoryError.class);
      assertThat(combiner.call("k", 14)).isEqualTo("k:14");
    }
  }

  @Test
  void tooFewAnswersLeaveTheOutcomeUnknownAndNothingIsRunAgain() {
    RecordingRunner record = RecordingRunner.gated(requests -> {});
    BatchRunner<String, Integer, String> forgetful =
        (key, requests) -> {
          List<CallResult<String>> answers = record.run(key, requests);
          return answers.subList(0, answers.size() - 1);
        };

    List<CompletionStage<String>> stages = batchOf(8, record, forgetful);

    assertThat(stages).allMatch(stage -> Answers.faultOf(stage) instanceof OutcomeUnknown);
    assertThat(record.committed()).hasSize(2);
  }

  @Test
  void answersAreGivenEvenWhenTheExecutorRefuses() {
    RecordingRunner runner = RecordingRunner.open();
    Executor refusing =
        task -> {
          throw new RejectedExecutionException("shut down");
        };

    try (Combiner<String, Integer, String> combiner = new Combiner<>(runner, CONFIG, refusing)) {
      assertThat(Answers.of(combiner.submit("k", 1))).isEqualTo("k:1");
    }
  }

  @Test
  void answersThatTheExecutorSatOnAreGivenByClose() {
    RecordingRunner runner = RecordingRunner.open();
    CombinerConfig impatient = CONFIG.withDrainTimeout(Duration.ofMillis(50));
    CompletionStage<String> stage;

    try (Combiner<String, Integer, String> combiner =
        new Combiner<>(runner, impatient, task -> {})) {
      stage = combiner.submit("k", 1);
      runner.awaitEntered();
    }

    assertThat(Answers.isAnswered(stage)).isTrue();
    assertThat(Answers.of(stage)).as("it was decided, so it is known").isEqualTo("k:1");
  }

  @Test
  void aCancelledRequestIsWithdrawnWhileItWaits() {
    RecordingRunner runner = RecordingRunner.gated(requests -> {});

    try (Combiner<String, Integer, String> combiner = combiner(runner, CONFIG.withMaxWriters(1))) {
      combiner.submit("k", 0);
      runner.awaitEntered();
      CompletionStage<String> before = combiner.submit("k", 1);
      CompletionStage<String> withdrawn = combiner.submit("k", 2);
      CompletionStage<String> after = combiner.submit("k", 3);
      CompletionStage<String> alone = combiner.submit("other", 4);
      withdrawn.toCompletableFuture().cancel(false);
      alone.toCompletableFuture().cancel(false);
      runner.release();

      assertThat(Answers.of(before)).isEqualTo("k:1");
      assertThat(Answers.of(after)).isEqualTo("k:3");
      assertThat(combiner.call("other", 5)).isEqualTo("other:5");
    }
    assertThat(runner.committedOf("k")).containsExactly(0, 1, 3);
    assertThat(runner.committedOf("other")).containsExactly(5);
  }

  @Test
  void aCallbackMayBlockOnAnotherRequestOfTheSameKey() {
    RecordingRunner runner = RecordingRunner.open();

    try (Combiner<String, Integer, String> combiner = combiner(runner, CONFIG.withMaxWriters(1))) {
      CompletionStage<String> chained =
          combiner.submit("k", 1).thenApply(first -> first + " " + combiner.call("k", 2));

      assertThat(Answers.of(chained)).isEqualTo("k:1 k:2");
    }
  }

  @Test
  void aCallbackMayBlockOnAnAnswerOfItsOwnBatch() {
    RecordingRunner runner = RecordingRunner.gated(requests -> {});

    try (Combiner<String, Integer, String> combiner = combiner(runner, CONFIG.withMaxWriters(1))) {
      combiner.submit("k", 0);
      runner.awaitEntered();
      CompletionStage<String> first = combiner.submit("k", 1);
      CompletionStage<String> second = combiner.submit("k", 2);
      CompletionStage<String> both =
          first.thenApply(answer -> answer + " " + second.toCompletableFuture().join());
      runner.release();

      assertThat(Answers.of(both)).isEqualTo("k:1 k:2");
    }
  }

  @Test
  void aCallbackThatThrowsHurtsNobody() {
    RecordingRunner runner = RecordingRunner.open();
    AtomicBoolean called = new AtomicBoolean();

    try (Combiner<String, Integer, String> combiner = combiner(runner, CONFIG)) {
      CompletionStage<Void> callback =
          combiner
              .submit("k", 1)
              .thenAccept(
                  answer -> {
                    called.set(true);
                    throw new StackOverflowError("in a callback");
                  });
      assertThat(Answers.faultOf(callback)).isInstanceOf(StackOverflowError.class);
      assertThat(combiner.call("k", 2)).isEqualTo("k:2");
    }
    assertThat(called).isTrue();
  }

  /** The answers to so many requests, from 1, that were waiting together and so became a batch. */
  private static List<CompletionStage<String>> batchOf(int size, RecordingRunner runner) {
    return batchOf(size, runner, runner);
  }

  private static List<CompletionStage<String>> batchOf(
      int size, RecordingRunner record, BatchRunner<String, Integer, String> runner) {
    try (Combiner<String, Integer, String> combiner = combiner(runner, CONFIG)) {
      combiner.submit("k", 0);
      record.awaitEntered();
      List<CompletionStage<String>> stages =
          IntStream.rangeClosed(1, size).mapToObj(i -> combiner.submit("k", i)).toList();
      record.release();
      return stages;
    }
  }

  private static Consumer<List<Integer>> failing(RuntimeException fault) {
    return requests -> {
      throw fault;
    };
  }

  private static Combiner<String, Integer, String> combiner(
      BatchRunner<String, Integer, String> runner, CombinerConfig config) {
    return new Combiner<>(runner, config, ForkJoinPool.commonPool());
  }
}
