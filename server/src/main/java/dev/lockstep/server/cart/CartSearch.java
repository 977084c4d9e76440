package dev.lockstep.server.cart;

import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldFilter;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldState;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import java.util.Arrays;
import java.util.Locale;

/** Reads the parameters of a search for holds. */
final class CartSearch {
  private CartSearch() {}

  /** Required, because it tells which shard has the holds. */
  static long campaign(Request request) {
    return request
        .query("campaign")
        .filter(text -> text.matches("[1-9]\\d{0,17}"))
        .map(Long::parseLong)
        .orElseThrow(() -> Problem.invalid("campaign", "must be a campaign's id").asException());
  }

  static HoldFilter filter(Request request, Page page) {
    return new HoldFilter(
        request.query("buyer").map(CartSearch::buyer),
        request.query("state").map(CartSearch::state),
        page.after().map(CartSearch::after));
  }

  private static BuyerId buyer(String name) {
    try {
      return new BuyerId(name);
    } catch (IllegalArgumentException e) {
      throw Problem.invalid("buyer", "is no name that a buyer can have").asException();
    }
  }

  private static HoldState state(String label) {
    return Arrays.stream(HoldState.values())
        .filter(state -> state.name().toLowerCase(Locale.ROOT).equals(label))
        .findFirst()
        .orElseThrow(
            () ->
                Problem.invalid("state", "must be held, sold, released, expired or returned")
                    .asException());
  }

  private static HoldId after(String text) {
    try {
      return HoldId.of(text);
    } catch (IllegalArgumentException e) {
      throw Problem.invalid("after", "must be the 'next' of a page of this list").asException();
    }
  }
}
