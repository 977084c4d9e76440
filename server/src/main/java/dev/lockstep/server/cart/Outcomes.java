package dev.lockstep.server.cart;

import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.ExtensionLimit;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldEnded;
import dev.lockstep.hold.HoldOutcome.HoldIdReused;
import dev.lockstep.hold.HoldOutcome.HoldsOverloaded;
import dev.lockstep.hold.HoldOutcome.LifetimeReached;
import dev.lockstep.hold.HoldOutcome.LimitReached;
import dev.lockstep.hold.HoldOutcome.LinesDiffer;
import dev.lockstep.hold.HoldOutcome.NotSold;
import dev.lockstep.hold.HoldOutcome.NotYours;
import dev.lockstep.hold.HoldOutcome.PartReturned;
import dev.lockstep.hold.HoldOutcome.Paused;
import dev.lockstep.hold.HoldOutcome.Shortage;
import dev.lockstep.hold.HoldOutcome.SoldOut;
import dev.lockstep.hold.HoldOutcome.UnknownHold;
import dev.lockstep.hold.HoldOutcome.UnknownPool;
import dev.lockstep.hold.HoldOutcome.UnknownUnit;
import dev.lockstep.hold.HoldOutcome.Vetoed;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.cases.Cases;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.function.Function;

/** Maps hold outcomes to HTTP answers. */
public final class Outcomes {
  private static final Cases<HoldOutcome, Function<Campaign, Problem>> PROBLEMS =
      Cases.<HoldOutcome, Function<Campaign, Problem>>over(HoldOutcome.class)
          .when(HoldsOverloaded.class, full -> campaign -> Problem.overloaded(full.retryAfter()))
          .when(HoldIdReused.class, reused -> campaign -> Problem.keyReused())
          .when(UnknownHold.class, unknown -> campaign -> noSuchHold())
          .when(NotYours.class, other -> campaign -> noSuchHold())
          .when(Vetoed.class, vetoed -> campaign -> inCheckout())
          .when(HoldEnded.class, ended -> campaign -> holdEnded(ended.hold()))
          .when(Paused.class, paused -> campaign -> Campaigns.pausedProblem(paused.reason()))
          .when(LimitReached.class, limit -> campaign -> limitReached(limit))
          .when(SoldOut.class, soldOut -> campaign -> soldOut(campaign, soldOut))
          .when(ExtensionLimit.class, limit -> campaign -> extensionLimit(limit))
          .when(LifetimeReached.class, lifetime -> campaign -> lifetimeReached(lifetime))
          // A campaign's items and pools are created together: a missing pool is our own fault.
          .never(UnknownPool.class)
          // No command on a cart names units, sells given lines or takes goods back.
          .never(UnknownUnit.class)
          .never(LinesDiffer.class)
          .never(NotSold.class)
          .never(PartReturned.class)
          .never(Granted.class)
          .never(Ended.class)
          .complete();

  private Outcomes() {}

  /**
   * @param success the status of a grant: 201 for a new hold, 200 for an existing one
   */
  static Answer answer(Campaign campaign, HoldOutcome outcome, int success) {
    if (outcome instanceof Granted granted) {
      Answer answer = Answer.of(success, CartView.json(campaign, granted.hold()));
      return success == 201
          ? answer.withHeader("Location", "/v1/holds/" + CartId.of(granted.hold()))
          : answer;
    }
    if (outcome instanceof Ended ended) {
      return Answer.of(success, CartView.json(campaign, ended.hold()));
    }
    return problem(campaign, outcome).toAnswer();
  }

  /** For an outcome that is not a success. */
  public static Problem problem(Campaign campaign, HoldOutcome outcome) {
    return PROBLEMS.of(outcome).apply(campaign);
  }

  private static Problem limitReached(LimitReached limit) {
    return conflict("limit-reached", "Limit reached", "The buyer's limit would be passed.")
        .with("limit", limit.limit())
        .with("used", limit.used())
        .with("asked", limit.asked());
  }

  private static Problem inCheckout() {
    return conflict(
        "hold-in-checkout",
        "Hold in checkout",
        "The hold is being paid for and cannot be changed.");
  }

  private static Problem extensionLimit(ExtensionLimit limit) {
    return conflict(
            "extension-limit",
            "Extension limit",
            "A buyer can extend a hold %d times, each time to %d s from then, and to %d s in all; it was extended %d times."
                .formatted(
                    limit.bound().maxExtensions(),
                    limit.bound().maxHoldFor().toSeconds(),
                    limit.bound().maxLifetime().toSeconds(),
                    limit.hold().extensions()))
        .with("maxExtensions", limit.bound().maxExtensions())
        .with("maxSeconds", limit.bound().maxHoldFor().toSeconds())
        .with("extensions", limit.hold().extensions());
  }

  private static Problem lifetimeReached(LifetimeReached lifetime) {
    return conflict(
            "hold-lifetime-reached", "Lifetime reached", "The hold cannot be extended further.")
        .with("latest", lifetime.latest().toString());
  }

  /** An unknown hold and another buyer's look the same to the caller. */
  private static Problem noSuchHold() {
    return Problem.notFound("such hold");
  }

  private static Problem soldOut(Campaign campaign, SoldOut soldOut) {
    JsonArray shortages = new JsonArray();
    for (Shortage shortage : soldOut.shortages()) {
      shortages.add(
          campaign
              .item(shortage.pool())
              .nameIn(new JsonObject())
              .put("asked", shortage.asked())
              .put("free", shortage.free()));
    }
    int free = soldOut.shortages().stream().mapToInt(Shortage::free).sum();
    return conflict("sold-out", "Sold out", "Not enough is free; nothing was taken.")
        .with("free", free)
        .with("shortages", shortages);
  }

  private static Problem holdEnded(Hold hold) {
    String state = hold.state().name().toLowerCase(Locale.ROOT);
    Problem problem =
        conflict("hold-ended", "Hold ended", "The hold has ended: it is " + state + ".")
            .with("state", state);
    return hold.end().isPresent()
        ? problem.with("endedAt", hold.end().get().at().toString())
        : problem;
  }

  private static Problem conflict(String slug, String title, String detail) {
    return Problem.of(slug, 409, title, detail);
  }
}
