package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Housekeeping comes again after whatever happened, and ends when it is told to. */
@Timeout(60)
class MaintenanceTest {

  @Test
  void aRoundThatFailedOrLeftSomethingIsFollowedByAnotherSoon() throws Exception {
    AtomicInteger rounds = new AtomicInteger();
    CountDownLatch three = new CountDownLatch(3);
    try (Maintenance maintenance =
        new Maintenance(
            goOn -> {
              three.countDown();
              if (rounds.incrementAndGet() == 1) {
                throw new AssertionError("on purpose");
              }
              // As a listener may leave it behind.
              Thread.currentThread().interrupt();
              return rounds.get() > 2;
            })) {
      maintenance.start();
      assertThat(three.await(50, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(rounds).as("then there is nothing to do for an hour").hasValue(3);
  }

  @Test
  void aRoundUnderWayIsToldThatItEnds() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    Maintenance maintenance =
        new Maintenance(
            goOn -> {
              begun.countDown();
              while (goOn.getAsBoolean()) {
                Thread.onSpinWait();
              }
              ended.countDown();
              return true;
            });
    maintenance.start();
    begun.await();

    maintenance.close();

    assertThat(ended.getCount()).isZero();
  }
}
