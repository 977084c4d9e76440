package dev.lockstep.hold;

import dev.lockstep.sql.StorableText;
import java.util.Optional;

/**
 * The party that gives a command, for the audit and for access control.
 *
 * @param name written to the audit and to the hold's end
 * @param onlyBuyer the buyer whose holds this actor may touch; if empty, any
 */
public record Actor(String name, Optional<BuyerId> onlyBuyer) {
  public static final int MAX_LENGTH = 200;

  public Actor {
    StorableText.require("An actor's name", name, MAX_LENGTH);
  }

  /** A buyer; may touch only their own holds. */
  public static Actor buyer(BuyerId buyer) {
    return new Actor(buyer.value(), Optional.of(buyer));
  }

  /** An operator or a service; may touch any hold. */
  public static Actor operator(String name) {
    return new Actor(name, Optional.empty());
  }

  boolean mayTouch(BuyerId buyer) {
    return onlyBuyer.isEmpty() || onlyBuyer.get().equals(buyer);
  }
}
