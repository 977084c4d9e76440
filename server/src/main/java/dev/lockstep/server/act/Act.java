package dev.lockstep.server.act;

import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Shape;
import java.util.Optional;

/**
 * A manual action, recorded with who did it and why.
 *
 * @param action what is done: {@code refund}, {@code pause queue}
 * @param subject what it is done to, as clients know it, or a filter
 */
public record Act(String action, String subject, String actor, Optional<String> reason) {
  public static final Shape WHY = Shape.nullable(Shape.text(1, 500));

  /** A body with an optional reason. */
  public static final ObjectShape REASON = Shape.object().optional("reason", WHY);

  /** The action of a request whose body may give its reason in {@link #WHY}. */
  public static Act of(Request request, String action, String subject) {
    return new Act(
        action,
        subject,
        request.principal().name(),
        Optional.ofNullable(request.body().getString("reason")));
  }
}
