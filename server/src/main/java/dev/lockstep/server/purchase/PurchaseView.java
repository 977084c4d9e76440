package dev.lockstep.server.purchase;

import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.cart.CartView;
import dev.lockstep.server.payment.IntentId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;

/** A purchase as JSON, and as the answer to its request. */
final class PurchaseView {
  /** The failure code of a payment refused for overload; worth a retry with a new key. */
  static final String OVERLOADED = "overloaded";

  static final ObjectShape SHAPE =
      Shape.object()
          .required("id", Shape.text(1, 64))
          .required("campaign", Shape.text(1, 32))
          .required("buyer", Shape.text(1, 200))
          .required("status", Shape.choice(PurchaseStatus.labels()))
          .required("hold", Shape.text(1, 64))
          .required("items", CartView.ITEMS)
          .required("total", CartView.MONEY)
          .required("positions", CartView.positionsShape())
          .required(
              "payment",
              Shape.object()
                  .required("id", Shape.nullable(Shape.text(1, 255)))
                  .required("status", Shape.text(1, 64)))
          .required("failure", Shape.nullable(Shape.text(1, 255)))
          .required("tries", Shape.list(Tries.SHAPE, 0, Tries.MOST))
          .required("refunded", CartView.MONEY)
          .required("refunds", Shape.list(PartialRefunds.SHAPE, 0, PartialRefunds.MOST))
          .required("createdAt", Shape.time())
          .required("expiresAt", Shape.time())
          .optional("clientSecret", Shape.text(1, 512))
          .optional("mismatches", Shape.list(Mismatches.SHAPE, 0, 100));

  private PurchaseView() {}

  static JsonObject json(Purchase purchase) {
    JsonArray positions = new JsonArray();
    purchase.items().stream()
        .map(JsonObject.class::cast)
        .forEach(item -> positions.addAll(item.getJsonArray("positions")));
    JsonObject json =
        new JsonObject()
            .put("id", purchase.id().toString())
            .put("campaign", String.valueOf(purchase.id().campaign()))
            .put("buyer", purchase.buyer())
            .put("status", purchase.status().label())
            .put("hold", purchase.id().campaign() + "." + purchase.hold())
            .put("items", purchase.items())
            .put("total", CartView.money(purchase.total().amount(), purchase.total().currency()))
            .put("positions", positions)
            .put(
                "payment",
                new JsonObject()
                    .put("id", purchase.payment().intent().map(IntentId::value).orElse(null))
                    .put("status", purchase.status().payment()))
            .put("failure", purchase.failure().orElse(null))
            .put("tries", purchase.tries().failed())
            .put("refunded", CartView.money(purchase.moneyBack(), purchase.total().currency()))
            .put("refunds", purchase.partialRefunds().done())
            .put("createdAt", purchase.createdAt().toString())
            .put("expiresAt", purchase.deadline().toString());
    if (purchase.status() == PurchaseStatus.REQUIRES_ACTION) {
      purchase.payment().clientSecret().ifPresent(secret -> json.put("clientSecret", secret));
    }
    return json;
  }

  /**
   * The answer to the request that made it, or that tried to pay for it again. A pure function, so
   * that a repeated request gets the same answer.
   */
  static Answer answer(Purchase purchase) {
    return switch (purchase.status()) {
      case COMPLETED ->
          purchase.tries().isFirst()
              ? Answer.created(location(purchase), json(purchase))
              : Answer.ok(json(purchase));
      case REQUIRES_ACTION, PENDING ->
          Answer.of(202, json(purchase)).withHeader("Location", location(purchase));
      case REQUIRES_PAYMENT_METHOD, FAILED, EXPIRED, REFUNDING, REFUNDED ->
          failed(purchase).toAnswer();
    };
  }

  private static Problem failed(Purchase purchase) {
    String why = purchase.failure().orElse("unknown");
    if (why.equals(OVERLOADED)) {
      return Problem.overloaded(Duration.ofSeconds(1));
    }
    String detail = "The payment failed. The hold is released.";
    if (purchase.paid()) {
      detail = "The payment arrived when the goods were gone. The money is being refunded.";
    } else if (purchase.status() == PurchaseStatus.REQUIRES_PAYMENT_METHOD) {
      detail = "The card was declined. The goods stay held until expiresAt; try another card.";
    }
    return Problem.of("payment-failed", 402, "Payment failed", detail)
        .with("code", why)
        .with("purchase", json(purchase))
        .with("purchaseStatus", purchase.status().label());
  }

  private static String location(Purchase purchase) {
    return "/v1/purchases/" + purchase.id();
  }
}
