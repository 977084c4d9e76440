package dev.lockstep.server.duty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DutyThreadTest {
  @Test
  void thoseWhoAskDuringARunShareTheNextOne() throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    try (DutyThread<Integer> thread =
        new DutyThread<>(
            "test",
            () -> {
              began.countDown();
              goOn.await();
              return 1;
            })) {
      CompletableFuture<Integer> first = thread.ask();
      assertThat(began.await(30, TimeUnit.SECONDS)).isTrue();

      CompletableFuture<Integer> next = thread.ask();
      assertThat(thread.ask()).isSameAs(next).isNotSameAs(first);
      goOn.countDown();

      assertThat(next.get(30, TimeUnit.SECONDS)).isEqualTo(1);
    }
  }

  @Test
  void afterItWasClosedNobodyWaitsForAnAnswer() {
    DutyThread<Integer> thread = new DutyThread<>("test", () -> 1);
    thread.close();

    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(thread::ask).isInstanceOf(RejectedExecutionException.class);
    }
  }
}
