package dev.lockstep.server.bank;

import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.gateway.Gateway;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.ProblemException;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.purchase.Purchases;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;

/**
 * Lets a buyer answer the challenge of a test card. As with a real bank, the gateway's event moves
 * the purchase on, not this request. Thread-safe.
 */
public final class TestBank {
  private static final Shape DECISION = Shape.object().required("approved", Shape.bool());
  private static final Shape TAKEN =
      Shape.object().required("purchase", Shape.text(1, 64)).required("approved", Shape.bool());

  private final Vertx vertx;
  private final Purchases purchases;
  private final Optional<Gateway> gateway;

  /**
   * @param gateway empty if payments go through a real provider
   */
  public TestBank(Vertx vertx, Purchases purchases, Optional<Gateway> gateway) {
    this.vertx = vertx;
    this.purchases = purchases;
    this.gateway = gateway;
  }

  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(
                POST,
                "/v1/purchases/{id}/authenticate",
                "Approves or refuses 3-D Secure at the built-in gateway's bank.")
            .by(Role.OPERATOR, Role.SERVICE, Role.BUYER)
            .taking(DECISION)
            .answering(202, TAKEN)
            .handledBy(this::decide));
  }

  private Future<Answer> decide(Request request) {
    String id = request.path("id");
    boolean approved = request.body().getBoolean("approved");
    Gateway bank = gateway.orElseThrow(TestBank::realOne);
    return purchases
        .awaitedPayment(id, request.principal())
        .compose(
            payment ->
                Future.fromCompletionStage(
                    bank.authenticate(payment, approved), vertx.getOrCreateContext()))
        .map(
            // A challenge that has ended is no failure: the purchase shows how it went.
            ended ->
                Answer.of(202, new JsonObject().put("purchase", id).put("approved", approved)));
  }

  private static ProblemException realOne() {
    return Problem.of(
            "no-test-bank",
            409,
            "No test bank",
            "Payments go through a real provider; the cardholder's own bank asks for approval.")
        .asException();
  }
}
