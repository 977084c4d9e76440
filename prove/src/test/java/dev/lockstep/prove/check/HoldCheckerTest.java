package dev.lockstep.prove.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.prove.history.Fields;
import org.junit.jupiter.api.Test;

class HoldCheckerTest {
  private static final long LATER = 1_000_000_000;

  private final HoldChecker checker = new HoldChecker();

  private static Told shop(int total, int limit) {
    return new Told()
        .ok(
            0,
            1,
            "hold.open",
            Fields.of("scope", 1, "pools", "1:" + total + ",2:9", "limit", limit),
            Fields.NONE);
  }

  private static Fields acquire(String hold, String lines) {
    return named(hold).with("buyer", "b").with("lines", lines).with("for", 1_000);
  }

  private static Fields named(String hold) {
    return Fields.of("scope", 1, "hold", hold);
  }

  private static Fields granted(String lines) {
    return hold("HELD", lines).with("replayed", false);
  }

  private static Fields hold(String state, String lines) {
    return Fields.of("state", state, "buyer", "b", "lines", lines, "created", 0, "expires", LATER);
  }

  private static Fields soldOut(int asked, int free) {
    return Fields.of("why", "SoldOut", "shortages", "1:" + asked + ":" + free);
  }

  @Test
  void acceptsAHistoryInWhichEverythingIsRight() {
    Told told =
        shop(2, 2)
            .ok(2, 5, "hold.acquire", acquire("a", "1:1"), granted("1:1:"))
            .ok(3, 6, "hold.acquire", acquire("c", "1:1"), granted("1:1:"))
            .refused(
                7, 8, "hold.acquire", acquire("d", "1:1").with("buyer", "other"), soldOut(1, 0))
            .ok(9, 10, "hold.release", named("a"), hold("RELEASED", "1:1:").with("replayed", false))
            .ok(11, 12, "hold.acquire", acquire("e", "1:1"), granted("1:1:"))
            .ok(13, 14, "final.hold", named("a"), hold("RELEASED", "1:1:"));
    assertThat(told.broken(checker)).isEmpty();
  }

  @Test
  void seesThatMoreWasSoldThanThereIs() {
    Told told =
        shop(1, 0)
            .ok(2, 5, "hold.acquire", acquire("a", "1:1"), granted("1:1:"))
            .ok(3, 6, "hold.acquire", acquire("c", "1:1"), granted("1:1:"));
    assertThat(told.broken(checker)).contains("never oversold");
  }

  @Test
  void seesThatAUnitWasGivenTwice() {
    Told told =
        shop(1, 0)
            .ok(2, 5, "hold.acquire", acquire("a", "2:1"), granted("2:1:7"))
            .ok(3, 6, "hold.acquire", acquire("c", "2:1"), granted("2:1:7"));
    assertThat(told.broken(checker)).containsExactly("a unit has one live hold");
  }

  @Test
  void seesThatSoldOutWasSaidWhileSomethingWasFree() {
    Told told =
        shop(2, 0)
            .ok(2, 5, "hold.acquire", acquire("a", "1:1"), granted("1:1:"))
            .refused(6, 7, "hold.acquire", acquire("c", "1:1"), soldOut(1, 0));
    assertThat(told.broken(checker)).containsExactly("a pool is linearizable");
  }

  @Test
  void acceptsSoldOutBesideAnAcquireWithoutAnAnswer() {
    Told told =
        shop(1, 0)
            .unknown(2, "hold.acquire", acquire("a", "1:1"))
            .refused(6, 7, "hold.acquire", acquire("c", "1:1"), soldOut(1, 0));
    assertThat(told.broken(checker)).isEmpty();
  }

  @Test
  void seesThatSoldOutCountedAHoldWhoseTimeWasUp() {
    Told told =
        shop(1, 0)
            .ok(2, 5, "hold.acquire", acquire("a", "1:1"), granted("1:1:").with("expires", 500_000))
            .refused(900, 901, "hold.acquire", acquire("c", "1:1"), soldOut(1, 0));
    assertThat(told.broken(checker)).containsExactly("a pool is linearizable");
  }

  @Test
  void seesThatALimitWasPassed() {
    Told told =
        shop(9, 1)
            .ok(2, 5, "hold.acquire", acquire("a", "1:1"), granted("1:1:"))
            .ok(6, 7, "hold.acquire", acquire("c", "2:1"), granted("2:1:3"));
    assertThat(told.broken(checker)).contains("limit never passed");
  }

  @Test
  void seesThatALimitWasSaidToBeReachedWhenItWasNot() {
    Told told =
        shop(9, 2)
            .refused(
                2,
                3,
                "hold.acquire",
                acquire("a", "1:1"),
                Fields.of("why", "LimitReached", "limit", 2, "used", 2, "asked", 1));
    assertThat(told.broken(checker)).containsExactly("a buyer is linearizable");
  }

  @Test
  void seesThatAHoldEndedTwice() {
    Told told =
        shop(2, 0)
            .ok(2, 5, "hold.acquire", acquire("a", "1:1"), granted("1:1:"))
            .ok(6, 9, "hold.confirm", named("a"), hold("SOLD", "1:1:").with("replayed", false))
            .ok(7, 8, "hold.release", named("a"), hold("RELEASED", "1:1:").with("replayed", false));
    assertThat(told.broken(checker)).contains("a hold ends once");
  }

  @Test
  void seesThatAHoldWasSoldAfterItsTimeWasUp() {
    Told told =
        shop(2, 0)
            .ok(2, 5, "hold.acquire", acquire("a", "1:1"), granted("1:1:").with("expires", 100_000))
            .ok(
                900,
                901,
                "hold.confirm",
                named("a"),
                hold("SOLD", "1:1:").with("replayed", false).with("expires", 100_000));
    assertThat(told.broken(checker)).contains("an expired hold has ended");
  }

  @Test
  void seesThatASoldHoldIsLost() {
    Told told =
        shop(2, 0)
            .ok(2, 5, "hold.acquire", acquire("a", "1:1"), granted("1:1:"))
            .ok(6, 9, "hold.confirm", named("a"), hold("SOLD", "1:1:").with("replayed", false))
            .ok(20, 21, "final.hold", named("a"), hold("HELD", "1:1:"));
    assertThat(told.broken(checker)).contains("a pool is linearizable");
  }

  @Test
  void aShrunkHistoryStillShowsTheSame() {
    Told told = shop(1, 0);
    for (int i = 0; i < 40; i++) {
      told.refused(
          2 + i, 4 + i, "hold.confirm", named("other" + i), Fields.of("why", "UnknownHold"));
    }
    told.ok(50, 51, "hold.acquire", acquire("a", "1:1"), granted("1:1:"))
        .ok(60, 61, "hold.acquire", acquire("c", "1:1"), granted("1:1:"));
    Violation violation = checker.check(told.history()).get(0);
    assertThat(Shrinker.shrink(told.history(), violation).ops()).hasSizeLessThan(6);
  }
}
