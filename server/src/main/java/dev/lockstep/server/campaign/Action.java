package dev.lockstep.server.campaign;

import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Shape;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Optional;

/** A recorded action on a campaign, or on what it sold: what, by whom, why, to what. */
record Action(
    long id,
    String action,
    String actor,
    Optional<String> reason,
    Instant at,
    Optional<String> subject) {
  static final ObjectShape SHAPE =
      Shape.object()
          .required("action", Shape.text(1, 32))
          .required("actor", Shape.text(1, 200))
          .required("reason", Shape.nullable(Shape.text(1, 500)))
          .required("subject", Shape.nullable(Shape.text(1, 64)))
          .required("at", Shape.time());

  JsonObject json() {
    return new JsonObject()
        .put("action", action)
        .put("actor", actor)
        .put("reason", reason.orElse(null))
        .put("subject", subject.orElse(null))
        .put("at", at.toString());
  }
}
