package dev.lockstep.server.cart;

import dev.lockstep.hold.Actor;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import java.util.Optional;

/** Who a request acts for, and what it may see. */
public final class RequestActor {
  private RequestActor() {}

  /** A buyer's key acts for its buyer; other keys name the buyer in the body. */
  public static BuyerId buyer(Request request) {
    Optional<String> own = request.principal().buyer();
    Optional<String> named = Optional.ofNullable(request.body().getString("buyer"));
    if (own.isEmpty() && named.isEmpty()) {
      throw Problem.invalid("buyer", "is missing: say for whom this is").asException();
    }
    if (own.isPresent() && named.isPresent() && !named.equals(own)) {
      throw Problem.forbidden("A buyer's key acts for that buyer only.").asException();
    }
    return new BuyerId(own.or(() -> named).orElseThrow());
  }

  public static Actor actor(Principal principal) {
    return new Actor(principal.name(), principal.buyer().map(BuyerId::new));
  }

  /** Buyers see only what is theirs; other roles see everything. */
  public static boolean maySee(Principal principal, BuyerId buyer) {
    return principal.buyer().isEmpty() || principal.buyer().get().equals(buyer.value());
  }
}
