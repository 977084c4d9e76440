package dev.lockstep.server.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.delivery.Receivers.Admission.Aside;
import dev.lockstep.server.delivery.Receivers.Admission.Entered;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Who gets a place, on a clock that tests move. */
class ReceiversTest {
  private static final DeliveryConfig CONFIG = DeliveryConfig.DEFAULT;

  private final AtomicLong clock = new AtomicLong(1);
  private final Receivers receivers = new Receivers(CONFIG, clock::get);

  @Test
  void oneReceiverHasItsBoundAndNoMore() {
    assertThat(fill("a")).hasSize(CONFIG.perReceiver());
    assertThat(receivers.enter("b")).isInstanceOf(Entered.class);
  }

  @Test
  void receiversThatNeverAnswerTakeNoMoreThanHalfAndLeaveRoomForNewcomers() {
    int taken = 0;
    for (int i = 0; i < 20; i++) {
      taken += fill("silent " + i).size();
    }
    assertThat(taken).isLessThan(CONFIG.concurrency() / 2);
    assertThat(receivers.enter("new")).isInstanceOf(Entered.class);
    for (int i = 20; i < 500; i++) {
      taken += fill("silent " + i).size();
    }
    assertThat(taken + 1).isEqualTo(CONFIG.concurrency() / 2);
    assertThat(receivers.enter("too late")).isInstanceOf(Aside.class);
  }

  @Test
  void quickReceiversDoNotNoticeThem() {
    answer("quick", Duration.ofMillis(900));
    for (int i = 0; i < 500; i++) {
      fill("silent " + i);
    }
    assertThat(fill("quick")).hasSize(CONFIG.perReceiver());
  }

  @Test
  void aReceiverIsSlowWhenItsAnswerIsOverdueOrCameLateAndQuickAgainWhenItAnswersInTime() {
    answer("a", Duration.ofMillis(10));
    answer("late", Duration.ofMillis(1_100));
    Entered one = enter("a");
    for (int i = 0; i < 500; i++) {
      fill("silent " + i);
    }
    assertThat(receivers.enter("late")).isInstanceOf(Aside.class);
    assertThat(receivers.enter("a")).isInstanceOf(Entered.class);
    clock.addAndGet(Duration.ofMillis(1_001).toNanos());
    assertThat(receivers.enter("a")).as("overdue").isInstanceOf(Aside.class);
    receivers.leave(one);
    assertThat(receivers.enter("a")).as("late").isInstanceOf(Aside.class);
  }

  @Test
  void whoStandsAsideDoesSoForLongerTheLongerItsReceiverIsSilent() {
    fill("a");
    assertThat(aside("a")).isLessThanOrEqualTo(Duration.ofMillis(301));
    clock.addAndGet(Duration.ofSeconds(4).toNanos());
    assertThat(aside("a")).isBetween(Duration.ofSeconds(2), Duration.ofSeconds(6).plusNanos(2));
    clock.addAndGet(Duration.ofHours(1).toNanos());
    assertThat(aside("a")).isLessThanOrEqualTo(Duration.ofSeconds(15).plusNanos(2));
  }

  @Test
  void noMoreThanSoManyAreRemembered() {
    Entered busy = enter("busy");
    for (int i = 0; i < Receivers.MAX_REMEMBERED + 100; i++) {
      answer("r" + i, Duration.ofMillis(1));
    }
    assertThat(receivers.size()).isEqualTo(Receivers.MAX_REMEMBERED);
    receivers.leave(busy);
    answer("busy", Duration.ZERO);
  }

  private Duration aside(String receiver) {
    return ((Aside) receivers.enter(receiver)).time();
  }

  private Entered enter(String receiver) {
    return (Entered) receivers.enter(receiver);
  }

  private void answer(String receiver, Duration took) {
    Entered place = enter(receiver);
    clock.addAndGet(took.toNanos());
    receivers.leave(place);
  }

  private List<Entered> fill(String receiver) {
    List<Entered> all = new ArrayList<>();
    while (receivers.enter(receiver) instanceof Entered place) {
      all.add(place);
    }
    return all;
  }
}
