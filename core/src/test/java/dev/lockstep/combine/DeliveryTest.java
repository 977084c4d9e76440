package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Who waits for an answer does not wait for a stranger's callback. */
class DeliveryTest {
  private static final CombinerConfig CONFIG = CombinerConfig.named("delivery");

  @Test
  void aCallerThatWaitsIsAnsweredWhileEveryThreadForCallbacksIsBusy() throws Exception {
    LinkedBlockingQueue<Runnable> notRun = new LinkedBlockingQueue<>();
    RecordingRunner runner = RecordingRunner.gated(requests -> {});
    try (Combiner<String, Integer, String> combiner = new Combiner<>(runner, CONFIG, notRun::add)) {
      List<Background<String>> callers = new ArrayList<>();
      callers.add(Background.start(() -> combiner.call("key", 1)));
      runner.awaitEntered();
      CompletableFuture<String> submitted = combiner.submit("key", 2).toCompletableFuture();
      callers.add(Background.start(() -> combiner.call("key", 3)));
      callers.add(Background.start(() -> combiner.call("key", 4)));
      Await.until("all wait", () -> combiner.waiting() == 3);
      runner.release();

      for (Background<String> caller : callers) {
        assertThat(caller.result()).startsWith("key:");
      }
      assertThat(submitted).isNotDone();
      notRun.take().run();
      assertThat(submitted).isCompletedWithValue("key:2");
    }
  }

  /** In a socket, in a lock: nothing that a fork-join pool would make up for. */
  @Test
  void callbacksThatBlockKeepNobodyElseFromTheirAnswers() throws Exception {
    CountDownLatch free = new CountDownLatch(1);
    CallbackThreads threads = new CallbackThreads("test-answers");
    int blocked = 10 * Math.max(4, Runtime.getRuntime().availableProcessors());
    CountDownLatch inside = new CountDownLatch(blocked);
    RecordingRunner runner = RecordingRunner.gated(requests -> {});
    try (Combiner<String, Integer, String> combiner = new Combiner<>(runner, CONFIG, threads)) {
      for (int i = 0; i < blocked; i++) {
        // None is answered before it has its callback, which would run here.
        var unused =
            combiner
                .submit("key", i)
                .thenAccept(
                    answer -> {
                      inside.countDown();
                      RecordingRunner.await(free, "the end");
                    });
      }
      runner.awaitEntered();
      runner.release();
      assertThat(inside.await(30, TimeUnit.SECONDS)).isTrue();

      assertThat(combiner.submit("other", 1).toCompletableFuture().get(30, TimeUnit.SECONDS))
          .isEqualTo("other:1");
      free.countDown();
    } finally {
      free.countDown();
    }
  }

  @Test
  void callbacksThatBlockKeepNoOtherCombinerFromItsAnswers() throws Exception {
    CountDownLatch free = new CountDownLatch(1);
    CountDownLatch inside = new CountDownLatch(CallbackThreads.MAX_THREADS);
    RecordingRunner runner = RecordingRunner.gated(requests -> {});
    try (Combiner<String, Integer, String> busy = new Combiner<>(runner, CONFIG);
        Combiner<String, Integer, String> other = new Combiner<>(RecordingRunner.open(), CONFIG)) {
      for (int i = 0; i < CallbackThreads.MAX_THREADS; i++) {
        var unused =
            busy.submit("key", i)
                .thenAccept(
                    answer -> {
                      inside.countDown();
                      RecordingRunner.await(free, "the end");
                    });
      }
      runner.awaitEntered();
      runner.release();
      assertThat(inside.await(30, TimeUnit.SECONDS)).as("no thread is left").isTrue();

      assertThat(busy.call("key", 1)).as("of the same combiner").isEqualTo("key:1");
      assertThat(other.submit("key", 2).toCompletableFuture().get(30, TimeUnit.SECONDS))
          .isEqualTo("key:2");
      free.countDown();
    } finally {
      free.countDown();
    }
  }

  @Test
  void aStageIsCompletedWhileTheCommonPoolIsBusy() throws Exception {
    CountDownLatch free = new CountDownLatch(1);
    try (Combiner<String, Integer, String> combiner =
        new Combiner<>(RecordingRunner.open(), CONFIG)) {
      for (int i = 0; i < Math.max(1, ForkJoinPool.getCommonPoolParallelism()); i++) {
        ForkJoinPool.commonPool().execute(() -> RecordingRunner.await(free, "the end"));
      }

      assertThat(combiner.submit("key", 1).toCompletableFuture().get(30, TimeUnit.SECONDS))
          .isEqualTo("key:1");
    } finally {
      free.countDown();
    }
  }
}
