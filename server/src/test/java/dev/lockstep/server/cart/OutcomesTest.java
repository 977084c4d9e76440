package dev.lockstep.server.cart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HeldLine;
import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldState;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.campaign.CampaignKind;
import dev.lockstep.server.campaign.CampaignStatus;
import dev.lockstep.server.campaign.HoldTimes;
import dev.lockstep.server.campaign.Item;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every outcome as HTTP, in the order in which the hold block gives one precedence. */
class OutcomesTest {
  private static final PoolId POOL = new PoolId(1);
  private static final HoldId HOLD = new HoldId(new UUID(0, 1));
  private static final Campaign CAMPAIGN =
      new Campaign(
          7,
          CampaignKind.DROP,
          "A drop",
          "USD",
          OptionalInt.empty(),
          new HoldTimes(900, 1, 1_800),
          List.of(new Item(POOL, CampaignKind.DROP, "A", "Thing", 250, 10)),
          List.of(),
          CampaignStatus.PUBLISHED,
          Optional.empty(),
          false,
          new Campaign.Times(Instant.EPOCH, Optional.of(Instant.EPOCH), Instant.EPOCH));

  static Stream<Arguments> table() {
    return Stream.of(
        Arguments.of(new HoldOutcome.HoldsOverloaded(Duration.ofMillis(1_200)), 503, "overloaded"),
        Arguments.of(new HoldOutcome.HoldIdReused(HOLD), 422, "idempotency-key-reused"),
        Arguments.of(new HoldOutcome.UnknownHold(HOLD), 404, "not-found"),
        Arguments.of(new HoldOutcome.NotYours(HOLD), 404, "not-found"),
        Arguments.of(new HoldOutcome.Vetoed(hold(HoldState.HELD)), 409, "hold-in-checkout"),
        Arguments.of(new HoldOutcome.HoldEnded(hold(HoldState.EXPIRED)), 409, "hold-ended"),
        Arguments.of(new HoldOutcome.Paused(POOL, "Rain"), 409, "campaign-paused"),
        Arguments.of(
            new HoldOutcome.Paused(POOL, "The campaign is closed."), 409, "campaign-not-open"),
        Arguments.of(new HoldOutcome.LimitReached(3, 2, 2), 409, "limit-reached"),
        Arguments.of(
            new HoldOutcome.SoldOut(List.of(new HoldOutcome.Shortage(POOL, 2, 1))),
            409,
            "sold-out"),
        Arguments.of(
            new HoldOutcome.ExtensionLimit(hold(HoldState.HELD), CAMPAIGN.buyersBound()),
            409,
            "extension-limit"),
        Arguments.of(
            new HoldOutcome.LifetimeReached(hold(HoldState.HELD), Instant.EPOCH),
            409,
            "hold-lifetime-reached"));
  }

  @ParameterizedTest
  @MethodSource("table")
  void everyRefusalHasItsSlug(HoldOutcome outcome, int status, String slug) {
    Answer answer = Outcomes.answer(CAMPAIGN, outcome, 201);
    assertThat(answer.status()).isEqualTo(status);
    assertThat(answer.body().getString("type")).endsWith("/problems/" + slug);
    // Whole seconds, rounded up: a client that obeys does not come too early.
    assertThat(answer.headers().get("Retry-After")).isEqualTo(status == 503 ? "2" : null);
  }

  static Stream<HoldOutcome> faults() {
    return Stream.of(
        new HoldOutcome.LinesDiffer(hold(HoldState.HELD)),
        new HoldOutcome.NotSold(hold(HoldState.HELD)),
        new HoldOutcome.PartReturned(hold(HoldState.SOLD), List.of()),
        new HoldOutcome.UnknownPool(POOL),
        new HoldOutcome.UnknownUnit(POOL, 3));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void anOutcomeThatNoCartHasIsNotTakenForAnother(HoldOutcome outcome) {
    assertThatThrownBy(() -> Outcomes.answer(CAMPAIGN, outcome, 201))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(outcome.getClass().getName());
  }

  private static Hold hold(HoldState state) {
    return new Hold(
        new ScopeId(7),
        HOLD,
        new BuyerId("alice"),
        state,
        List.of(new HeldLine(POOL, 1, List.of())),
        Instant.EPOCH,
        Instant.EPOCH,
        0,
        state == HoldState.HELD
            ? Optional.empty()
            : Optional.of(new Hold.End(Instant.EPOCH, "expiry")));
  }
}
