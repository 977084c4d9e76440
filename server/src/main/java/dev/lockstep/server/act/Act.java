package dev.lockstep.server.act;

import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Shape;
import java.util.Optional;

/**
 * Something that a caller does by hand, to be kept with who did it and why.
 *
 * @param action what is done: {@code refund}, {@code pause queue}
 * @param subject what it is done to, as clients know it, or the filter of many
 */
public record Act(String action, String subject, String actor, Optional<String> reason) {
  public static final Shape WHY = Shape.nullable(Shape.text(1, 500));

  /** A body that may say why. */
  public static final ObjectShape REASON = Shape.object().optional("reason", WHY);

  /** As asked for in a request whose body may have {@link #WHY} as its reason. */
  public static Act of(Request request, String action, String subject) {
    return new Act(
        action,
        subject,
        request.principal().name(),
        Optional.ofNullable(request.body().getString("reason")));
  }
}
