package dev.lockstep.server.cart;

import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldFilter;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldState;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.campaign.Campaigns;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Reads the parameters of a search for holds. */
final class CartSearch {
  private static final Shape STATE =
      Shape.choice(
          Arrays.stream(HoldState.values())
              .map(state -> state.name().toLowerCase(Locale.ROOT))
              .toArray(String[]::new));

  private CartSearch() {}

  /** Required, because it tells which shard has the holds. */
  static long campaign(Request request) {
    return Campaigns.named(Optional.of(request.required("campaign"))).orElseThrow();
  }

  static HoldFilter filter(Request request, Page page) {
    return new HoldFilter(
        request.query("buyer").map(CartSearch::buyer),
        request.query("state", STATE).map(CartSearch::state),
        page.after(HoldId::of));
  }

  private static BuyerId buyer(String name) {
    try {
      return new BuyerId(name);
    } catch (IllegalArgumentException e) {
      throw Problem.invalid("buyer", "is no name that a buyer can have").asException();
    }
  }

  private static HoldState state(String label) {
    return HoldState.valueOf(label.toUpperCase(Locale.ROOT));
  }
}
