package dev.lockstep.server.cart;

import dev.lockstep.hold.Actor;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import java.util.Optional;

/** For whom a request acts, and what it may see. */
public final class RequestActor {
  private RequestActor() {}

  /** A buyer's key is its own buyer; the others say for whom they act, in the body. */
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

  /** A buyer sees what is theirs; the others see everything. */
  public static boolean maySee(Principal principal, BuyerId buyer) {
    return principal.buyer().isEmpty() || principal.buyer().get().equals(buyer.value());
  }
}
