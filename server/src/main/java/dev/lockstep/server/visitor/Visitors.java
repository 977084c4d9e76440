package dev.lockstep.server.visitor;

import static io.vertx.core.http.HttpMethod.DELETE;
import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.VisitorCookie;
import dev.lockstep.server.key.Keys;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Gives each browser a buyer of its own, if the configuration allows it. Thread-safe. */
public final class Visitors {
  private static final Shape VISITOR =
      Shape.object()
          .required("enabled", Shape.bool())
          .required("testBank", Shape.bool())
          .required("testCards", Shape.bool())
          .required("buyer", Shape.nullable(Shape.text(1, Keys.MAX_BUYER_LENGTH)));

  private final Keys keys;
  private final boolean enabled;
  private final boolean testBank;
  private final boolean testCards;

  /**
   * @param testBank whether payments go to the built-in gateway, so that the shop shows its bank
   * @param testCards whether payments are in test mode; only then may the shop's own page take them
   */
  public Visitors(Keys keys, boolean enabled, boolean testBank, boolean testCards) {
    this.keys = keys;
    this.enabled = enabled;
    this.testBank = testBank;
    this.testCards = testCards;
  }

  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(GET, "/v1/visitor", "Tells whether visitors may buy, and who the caller is.")
            .answering(200, VISITOR)
            .handledBy(request -> caller(request).map(who -> answer(200, name(who)))),
        Endpoint.of(POST, "/v1/visitor", "Makes the browser a buyer and sets its cookie.")
            .answering(200, VISITOR)
            .answering(201, VISITOR)
            .handledBy(this::enter),
        Endpoint.of(DELETE, "/v1/visitor", "Forgets the buyer of the browser's cookie.")
            .by(Role.BUYER)
            .answering(200, VISITOR)
            .handledBy(this::leave));
  }

  /** A browser that is already a buyer keeps its buyer. */
  private Future<Answer> enter(Request request) {
    if (!enabled) {
      throw Problem.of(
              "visitors-off",
              403,
              "Visitors are off",
              "This shop sells only to buyers with a key; ask its operator for one.")
          .asException();
    }
    if (request.foreign()) {
      throw Problem.forbidden("Only the shop's own pages can create visitors.").asException();
    }
    return caller(request)
        .compose(
            known ->
                known.isPresent()
                    ? Future.succeededFuture(answer(200, name(known)))
                    : admit(request));
  }

  private Future<Answer> admit(Request request) {
    return keys.newVisitor(request.from().network())
        .map(
            visitor -> {
              VisitorCookie.set(request, visitor.key().reveal(), Keys.VISITOR_AGE);
              return answer(201, visitor.buyer());
            });
  }

  /** Forgets only a cookie's buyer, so that an integration cannot give up its key by accident. */
  private Future<Answer> leave(Request request) {
    boolean byCookie = request.header("Authorization").isEmpty();
    VisitorCookie.clear(request);
    return byCookie
        ? keys.revoke(request.principal()).map(revoked -> answer(200, null))
        : Future.succeededFuture(answer(200, name(request.caller())));
  }

  /** By key, else by cookie, which the router ignores on endpoints without roles. */
  private Future<Optional<Principal>> caller(Request request) {
    if (request.caller().isPresent()) {
      return Future.succeededFuture(request.caller());
    }
    Optional<String> key = request.visitorKey();
    return key.isEmpty()
        ? Future.succeededFuture(Optional.empty())
        : keys.authenticate(key.get(), request.from().network())
            .map(who -> who.filter(one -> one.role() == Role.BUYER));
  }

  private static @Nullable String name(Optional<Principal> caller) {
    return caller.flatMap(Principal::buyer).orElse(null);
  }

  private Answer answer(int status, @Nullable String buyer) {
    return Answer.of(
        status,
        new JsonObject()
            .put("enabled", enabled)
            .put("testBank", testBank)
            .put("testCards", testCards)
            .put("buyer", buyer));
  }
}
