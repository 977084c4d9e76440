package dev.lockstep.server.purchase;

import static io.vertx.core.http.HttpMethod.DELETE;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.hold.BuyerId;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceKey;
import dev.lockstep.once.OnceResult;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Endpoint.IdempotencyKey;
import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.StoredAnswer;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.cart.RequestActor;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * What a buyer does after a declined card: tries another one, or gives up. Thread-safe.
 *
 * <p>A try begins with one guarded write of the purchase, together with its idempotency key; if
 * several arrive at once, one begins. No stock moves, so it needs no lock on the hold. A step that
 * ends the purchase names the try that it ends.
 */
final class AnotherCard {
  private static final Role[] SELLERS_AND_BUYERS = {Role.OPERATOR, Role.SERVICE, Role.BUYER};

  private final Vertx vertx;
  private final Workers workers;
  private final Transactor transactor;
  private final Once once;
  private final PurchaseStore store;
  private final Saga saga;
  private final Duration lookAfter;

  AnotherCard(
      Vertx vertx,
      Workers workers,
      Transactor transactor,
      Once once,
      PurchaseStore store,
      Saga saga,
      Duration lookAfter) {
    this.vertx = vertx;
    this.workers = workers;
    this.transactor = transactor;
    this.once = once;
    this.store = store;
    this.saga = saga;
    this.lookAfter = lookAfter;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(
                POST,
                "/v1/purchases/{id}/pay",
                "Tries another card for a purchase whose card was declined; at most "
                    + Tries.MOST
                    + " cards in all, until expiresAt.")
            .by(SELLERS_AND_BUYERS)
            .withIdempotencyKey(IdempotencyKey.REQUIRED)
            .taking(Shape.object().required("paymentMethod", Shape.text(1, 255)))
            .answering(200, PurchaseView.SHAPE)
            .answering(202, PurchaseView.SHAPE)
            .handledBy(this::pay),
        Endpoint.of(
                DELETE,
                "/v1/purchases/{id}",
                "Gives up a purchase that waits for a card or for its bank: cancels the payment,"
                    + " then releases the goods. 202 while the provider has not confirmed it.")
            .by(SELLERS_AND_BUYERS)
            .answering(200, PurchaseView.SHAPE)
            .answering(202, PurchaseView.SHAPE)
            .handledBy(this::giveUp));
  }

  /** Locks the key first, then the purchase; pays after both are written. */
  private Future<Answer> pay(Request request) {
    PurchaseId id = PurchaseId.of(request.path("id"));
    String key = request.idempotencyKey().orElseThrow();
    String method = request.body().getString("paymentMethod");
    Principal principal = request.principal();
    return workers
        .run(
            () ->
                once.call(
                    new OnceKey(id.campaign(), principal.name(), key),
                    request.fingerprint(),
                    connection -> begin(connection, id, method, principal)))
        .compose(begun -> answer(begun, id));
  }

  private String begin(Connection connection, PurchaseId id, String method, Principal principal)
      throws SQLException {
    visible(PurchaseTable.find(connection, id), principal);
    Optional<Purchase> begun = TryTable.begin(connection, id, method, lookAfter);
    if (begun.isPresent()) {
      return KeyedPurchase.text(id.value(), begun.get().tries().number());
    }
    Purchase now = PurchaseTable.find(connection, id).orElseThrow();
    return StoredAnswer.text(refusal(now).toAnswer());
  }

  private Future<Answer> answer(OnceResult begun, PurchaseId id) {
    if (!(begun instanceof OnceResult.Completed done)
        || KeyedPurchase.of(done.answer()).isEmpty()) {
      return Future.succeededFuture(StoredAnswer.of(begun));
    }
    int number = KeyedPurchase.tryOf(done.answer());
    if (done.replayed()) {
      return workers.run(
          () ->
              transactor
                  .call(connection -> TryTable.answer(connection, id, number))
                  .map(StoredAnswer::replayed)
                  .orElseGet(() -> Problem.keyInUse().toAnswer()));
    }
    return onLoop(store.reload(id).thenCompose(saga::payBegun).thenApply(PurchaseView::answer));
  }

  /** Marks it, so that no further try begins; then it ends as if its time were up. */
  private Future<Answer> giveUp(Request request) {
    PurchaseId id = PurchaseId.of(request.path("id"));
    Principal principal = request.principal();
    return workers
        .run(
            () ->
                transactor.call(
                    connection -> {
                      visible(PurchaseTable.find(connection, id), principal);
                      Optional<Purchase> marked = TryTable.giveUp(connection, id, lookAfter);
                      return marked.isPresent()
                          ? marked
                          : PurchaseTable.find(connection, id).filter(AnotherCard::isGivenUp);
                    }))
        .compose(
            marked ->
                marked.isPresent()
                    ? onLoop(end(marked.get()))
                    : workers.run(() -> refusal(store.find(id).orElseThrow()).toAnswer()));
  }

  /** An earlier call has given it up. */
  private static boolean isGivenUp(Purchase purchase) {
    return purchase.status() == PurchaseStatus.FAILED
        && purchase.failure().equals(Optional.of(Purchase.GIVEN_UP));
  }

  private CompletionStage<Answer> end(Purchase givenUp) {
    CompletionStage<Purchase> ended =
        givenUp.status().isEnd() ? Saga.done(givenUp) : saga.expire(givenUp);
    return ended.thenApply(
        now -> Answer.of(now.status().isEnd() ? 200 : 202, PurchaseView.json(now)));
  }

  /** Why a purchase takes no card, or cannot be given up. */
  private static Problem refusal(Purchase purchase) {
    String status = purchase.status().label();
    Problem problem =
        PurchaseStatus.PAYING.contains(purchase.status())
            ? Problem.of(
                "payment-in-progress",
                409,
                "Payment in progress",
                "A payment for this purchase is in progress; its status is " + status + ".")
            : purchase.status() == PurchaseStatus.REQUIRES_PAYMENT_METHOD || isOutOfTime(purchase)
                ? Problem.of(
                    "hold-ended", 409, "Hold ended", "The time to pay for this purchase is up.")
                : Problem.of(
                    "not-payable", 409, "Not payable", "This purchase is " + status + " already.");
    return problem.with("purchaseStatus", status).with("purchase", PurchaseView.json(purchase));
  }

  private static boolean isOutOfTime(Purchase purchase) {
    return purchase.status() == PurchaseStatus.EXPIRED;
  }

  private static Purchase visible(Optional<Purchase> found, Principal principal) {
    return found
        .filter(purchase -> RequestActor.maySee(principal, new BuyerId(purchase.buyer())))
        .orElseThrow(() -> PurchaseId.unknown().asException());
  }

  private <T> Future<T> onLoop(CompletionStage<T> stage) {
    return Future.fromCompletionStage(stage, vertx.getOrCreateContext());
  }
}
