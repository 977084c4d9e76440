package dev.lockstep.server.payment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Two payments under way, three more wait, and the next is refused. */
class PaymentSlotsTest {
  private final PaymentSlots slots =
      new PaymentSlots(PaymentsConfig.of(PaymentsConfig.STRIPE, "sk_test_1").withLimits(2, 3));
  private final List<CompletableFuture<Integer>> begun = new ArrayList<>();

  @Test
  void whatWaitsBeginsInItsTurnAsSoonAsOneEnds() {
    List<CompletionStage<Integer>> results = run(5);
    assertThat(begun).hasSize(2);

    for (int i = 0; i < 5; i++) {
      begun.get(i).complete(i);
      assertThat(results.get(i).toCompletableFuture()).isCompletedWithValue(i);
      assertThat(begun).hasSize(Math.min(5, i + 3));
    }
  }

  @Test
  void moreThanMayWaitAreRefusedUntilOneHasEnded() {
    run(5);

    assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> run(1));
    begun.get(0).complete(0);

    assertThat(run(1)).hasSize(1);
    assertThat(begun).hasSize(3);
  }

  @Test
  void whatFailsMakesRoomToo() {
    run(2);
    Supplier<CompletionStage<Integer>> broken =
        () -> {
          throw new IllegalStateException("broken");
        };
    CompletionStage<Integer> third = slots.run(broken);
    List<CompletionStage<Integer>> fourth = run(1);

    begun.get(0).completeExceptionally(new IllegalStateException("failed"));

    assertThat(third.toCompletableFuture()).isCompletedExceptionally();
    assertThat(begun).hasSize(3);
    begun.get(2).complete(4);
    assertThat(fourth.get(0).toCompletableFuture()).isCompletedWithValue(4);
  }

  @Test
  void closingWaitsForWhatIsUnderWay() {
    CompletionStage<String> slow = slots.run(() -> slots.onThread(() -> "slept"));

    slots.close();

    assertThat(slow.toCompletableFuture()).isCompletedWithValue("slept");
    assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> run(1));
  }

  @Test
  void closingWaitsUntilWhoAskedWasTold() throws Exception {
    CompletableFuture<Boolean> told = new CompletableFuture<>();
    CompletionStage<Integer> result = run(1).get(0);
    Thread closer = new Thread(slots::close);
    var unused = result.thenRun(() -> told.complete(isStillThere(closer)));
    closer.start();

    begun.get(0).complete(1);
    closer.join();

    assertThat(told).isCompletedWithValue(true);
  }

  /** It could be gone at once, if it did not wait. */
  private static boolean isStillThere(Thread closer) {
    try {
      closer.join(100);
      return closer.isAlive();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private List<CompletionStage<Integer>> run(int some) {
    List<CompletionStage<Integer>> results = new ArrayList<>();
    for (int i = 0; i < some; i++) {
      results.add(
          slots.run(
              () -> {
                begun.add(new CompletableFuture<>());
                return begun.get(begun.size() - 1);
              }));
    }
    return results;
  }
}
