package dev.lockstep.server.purchase;

import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.once.Once;
import dev.lockstep.once.OnceKey;
import dev.lockstep.once.OnceResult;
import dev.lockstep.server.act.Act;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Endpoint.IdempotencyKey;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.StoredAnswer;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.cart.CartItems;
import dev.lockstep.server.cart.CartView;
import dev.lockstep.server.purchase.PartialRefunds.Part;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Operators' requests to refund a purchase or a part of it. One at a time: the purchase is locked
 * while the remaining amount is decided, and takes no other request until the money is back.
 * Thread-safe.
 */
final class RefundRequests {
  private static final Shape BODY =
      Shape.object()
          .optional("amount", Shape.integer(1, Long.MAX_VALUE))
          .optional("items", CartItems.SHAPE)
          .optional("reason", Act.WHY);

  private final Vertx vertx;
  private final Workers workers;
  private final Once once;
  private final PurchaseStore store;
  private final Refunds refunds;

  RefundRequests(Vertx vertx, Workers workers, Once once, PurchaseStore store, Refunds refunds) {
    this.vertx = vertx;
    this.workers = workers;
    this.once = once;
    this.store = store;
    this.refunds = refunds;
  }

  Endpoint endpoint() {
    return Endpoint.of(
            POST,
            "/v1/purchases/{id}/refund",
            "Refunds a purchase: all that is left of it; or an amount, whose goods stay sold; or"
                + " items, which go back to stock.")
        .by(Role.OPERATOR)
        .withIdempotencyKey(IdempotencyKey.REQUIRED)
        .perhapsTaking(BODY)
        .answering(200, PurchaseView.SHAPE)
        .answering(202, PurchaseView.SHAPE)
        .handledBy(this::refund);
  }

  /** Locks the key first, then the purchase; refunds after both are written. */
  private Future<Answer> refund(Request request) {
    PurchaseId id = PurchaseId.of(request.path("id"));
    Act act = Act.of(request, "refund", id.toString());
    OnceKey key = new OnceKey(id.campaign(), act.actor(), request.idempotencyKey().orElseThrow());
    JsonObject body = request.body();
    return workers
        .run(
            () ->
                once.call(
                    key, request.fingerprint(), connection -> begin(connection, id, body, act)))
        .compose(marked -> answer(marked, id));
  }

  private String begin(Connection connection, PurchaseId id, JsonObject body, Act act)
      throws SQLException {
    LockedPurchase locked =
        LockedPurchase.find(connection, id).orElseThrow(() -> PurchaseId.unknown().asException());
    Purchase purchase = locked.purchase();
    if (purchase.status() != PurchaseStatus.COMPLETED) {
      return StoredAnswer.text(refusal(purchase).toAnswer());
    }
    Optional<Part> part = part(locked, body, act);
    refunds.mark(connection, purchase, part, act);
    return KeyedPurchase.text(id.value());
  }

  /** Empty: all that is left. */
  private static Optional<Part> part(LockedPurchase locked, JsonObject body, Act act) {
    Purchase purchase = locked.purchase();
    JsonArray asked = body.getJsonArray("items");
    JsonArray items = asked == null ? new JsonArray() : back(purchase.items(), asked);
    Long amount = body.getLong("amount");
    long left = purchase.total().amount() - purchase.partialRefunds().money();
    if (amount == null && asked == null) {
      return Optional.empty();
    }
    long money = amount == null ? Math.min(CartView.total(items), left) : amount;
    if (money > left) {
      throw tooLarge(left, "Of this purchase " + left + " is left to refund.").asException();
    }
    boolean allGoods = asked != null && PartialRefunds.without(purchase.items(), items).isEmpty();
    if (money == left && (asked == null || allGoods)) {
      return Optional.empty();
    }
    if (allGoods || money == left) {
      throw tooLarge(left, "All goods and all money go back together, in one refund.")
          .asException();
    }
    if (purchase.partialRefunds().parts() + 1 >= PartialRefunds.MOST) {
      throw tooLarge(left, "A purchase is refunded in at most " + PartialRefunds.MOST + " parts.")
          .asException();
    }
    int number = purchase.partialRefunds().parts() + 1;
    JsonObject view =
        new JsonObject()
            .put("number", number)
            .put("amount", CartView.money(money, purchase.total().currency()))
            .put("items", items)
            .put("reason", act.reason().orElse(null))
            .put("at", locked.now().toString());
    return Optional.of(new Part(number, money, items, view));
  }

  /** The lines that come back, as the purchase has them; of positions, the last ones. */
  private static JsonArray back(JsonArray bought, JsonArray asked) {
    Map<String, Integer> wanted = new LinkedHashMap<>();
    for (Object one : asked) {
      JsonObject item = (JsonObject) one;
      wanted.merge(PartialRefunds.code(item), item.getInteger("quantity", 1), Math::addExact);
    }
    JsonArray back = new JsonArray();
    for (Object one : bought) {
      JsonObject item = (JsonObject) one;
      Integer quantity = wanted.remove(PartialRefunds.code(item));
      if (quantity == null) {
        continue;
      }
      int has = item.getInteger("quantity");
      if (quantity > has) {
        throw itemsTooLarge(item, has).asException();
      }
      JsonArray positions = item.getJsonArray("positions");
      JsonArray last = new JsonArray();
      for (int i = Math.max(0, positions.size() - quantity); i < positions.size(); i++) {
        last.add(positions.getJsonObject(i));
      }
      back.add(item.copy().put("quantity", quantity).put("positions", last));
    }
    if (!wanted.isEmpty()) {
      throw Problem.invalid("items", "name " + wanted.keySet() + ", which was not bought")
          .asException();
    }
    return back;
  }

  private static Problem itemsTooLarge(JsonObject item, int has) {
    return Problem.of(
            "refund-too-large",
            409,
            "Refund too large",
            "Of " + PartialRefunds.code(item) + " there are " + has + " left to refund.")
        .with("refundable", has);
  }

  private static Problem tooLarge(long left, String why) {
    return Problem.of("refund-too-large", 409, "Refund too large", why).with("refundable", left);
  }

  /** Why a purchase cannot be refunded. */
  private static Problem refusal(Purchase purchase) {
    return Problem.of(
            "not-refundable",
            409,
            "Not refundable",
            "Only a completed purchase can be refunded; this one is "
                + purchase.status().label()
                + ".")
        .with("purchaseStatus", purchase.status().label());
  }

  private Future<Answer> answer(OnceResult marked, PurchaseId id) {
    if (!(marked instanceof OnceResult.Completed done)
        || KeyedPurchase.of(done.answer()).isEmpty()) {
      return Future.succeededFuture(StoredAnswer.of(marked));
    }
    CompletionStage<Answer> answer =
        store
            .reload(id)
            .thenCompose(
                purchase ->
                    purchase.status() == PurchaseStatus.REFUNDING
                        ? refunds.sendMarked(purchase)
                        : Saga.done(purchase))
            .thenApply(
                purchase -> {
                  int status = purchase.status() == PurchaseStatus.REFUNDING ? 202 : 200;
                  Answer given = Answer.of(status, PurchaseView.json(purchase));
                  return done.replayed() ? StoredAnswer.replayed(given) : given;
                });
    return Future.fromCompletionStage(answer, vertx.getOrCreateContext());
  }
}
