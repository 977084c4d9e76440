package dev.lockstep.server.purchase;

import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Extend;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceKey;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Endpoint.IdempotencyKey;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.cart.CartId;
import dev.lockstep.server.cart.CartItems;
import dev.lockstep.server.cart.Checkouts;
import dev.lockstep.server.cart.Outcomes;
import dev.lockstep.server.cart.RequestActor;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.server.job.BackgroundJobs;
import dev.lockstep.server.key.Keys;
import dev.lockstep.server.payment.Payments;
import dev.lockstep.server.purchase.BeginResult.Answered;
import dev.lockstep.server.purchase.BeginResult.Begun;
import dev.lockstep.server.purchase.PurchasePages.Cursor;
import dev.lockstep.server.purchase.PurchasePages.Filter;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * Purchases over HTTP: bought in one call or from a cart, shown, refunded; and the payment
 * provider's webhook.
 *
 * <p>Thread-safe. Its {@link #backgroundJobs} process unfinished purchases, including those of
 * earlier processes. The caller owns the payments and closes them after this.
 */
public final class Purchases implements Checkouts, AutoCloseable {
  private static final Role[] SELLERS_AND_BUYERS = {Role.OPERATOR, Role.SERVICE, Role.BUYER};
  private static final Shape METHOD = Shape.text(1, 255);

  private static final Shape NEW_PURCHASE =
      Shape.oneOfHaving(
          Map.of(
              "layer",
              Shape.object()
                  .optional("buyer", Shape.text(1, Keys.MAX_BUYER_LENGTH))
                  .required("layer", Shape.integer(1, 50))
                  .required("paymentMethod", METHOD),
              "items",
              Shape.object()
                  .optional("buyer", Shape.text(1, Keys.MAX_BUYER_LENGTH))
                  .required("items", CartItems.SHAPE)
                  .required("paymentMethod", METHOD)));

  private static final Shape CHECKOUT = Shape.object().required("paymentMethod", METHOD);

  /** The next step after an order's first transaction. */
  private static final Cases<BeginResult, Function<Saga, CompletionStage<Answer>>> NEXT =
      Cases.<BeginResult, Function<Saga, CompletionStage<Answer>>>over(BeginResult.class)
          .when(
              Begun.class,
              begun -> saga -> saga.payBegun(begun.purchase()).thenApply(PurchaseView::answer))
          .when(
              Answered.class,
              answered -> saga -> CompletableFuture.completedStage(answered.answer()))
          .complete();

  private final Vertx vertx;
  private final Workers workers;
  private final Transactor transactor;
  private final Campaigns campaigns;
  private final Holds holds;
  private final BeginCompanion begin;
  private final PurchaseStore store;
  private final Mismatches mismatches;
  private final RefundRequests refundRequests;
  private final Saga saga;
  private final Timer timer;
  private final StripeWebhook webhook;
  private final AnotherCard anotherCard;

  /**
   * @param webhookSecret verifies the provider's events
   * @param listener joins the transaction that sells
   */
  public Purchases(
      Vertx vertx,
      Workers workers,
      Transactor transactor,
      Campaigns campaigns,
      Holds holds,
      Once once,
      Payments payments,
      String webhookSecret,
      Timings timings,
      SaleListener listener) {
    this.vertx = vertx;
    this.workers = workers;
    this.transactor = transactor;
    this.campaigns = campaigns;
    this.holds = holds;
    this.begin = new BeginCompanion(once, Saga.MAX_PAY_WITHIN, timings.lookAfter());
    StepCompanion companion = new StepCompanion(timings.lookAfter(), listener);
    this.store = new PurchaseStore(transactor, workers);
    this.mismatches = new Mismatches(transactor, workers, listener);
    Refunds refunds =
        new Refunds(transactor, workers, payments, holds, companion, mismatches, store, campaigns);
    this.refundRequests = new RefundRequests(vertx, workers, once, store, refunds);
    PaymentsInFlight underWay = new PaymentsInFlight();
    this.saga =
        new Saga(
            holds,
            payments,
            timings,
            companion,
            campaigns,
            new LateGoods(refunds),
            underWay,
            mismatches,
            store);
    this.timer = new Timer(transactor, workers, saga, refunds, timings);
    this.anotherCard =
        new AnotherCard(vertx, workers, transactor, once, store, saga, timings.lookAfter());
    this.webhook =
        new StripeWebhook(vertx, transactor, saga, refunds, mismatches, underWay, webhookSecret);
  }

  public BackgroundJobs backgroundJobs() {
    return BackgroundJobs.none()
        .paced(timer.interval(), "unfinished-purchases", job -> timer.look())
        .every(Duration.ofMinutes(1), "old-payment-events", job -> timer.forgetEvents());
  }

  @Override
  public void close() {
    webhook.close();
  }

  public List<Endpoint> endpoints() {
    List<Endpoint> all = new ArrayList<>(anotherCard.endpoints());
    all.addAll(ownEndpoints());
    return all;
  }

  private List<Endpoint> ownEndpoints() {
    return List.of(
        Endpoint.of(POST, "/v1/campaigns/{id}/purchases", "Holds items and pays for them.")
            .by(SELLERS_AND_BUYERS)
            .withIdempotencyKey(IdempotencyKey.REQUIRED)
            .taking(NEW_PURCHASE)
            .answering(201, PurchaseView.SHAPE)
            .answering(202, PurchaseView.SHAPE)
            .handledBy(this::buy),
        Endpoint.of(POST, "/v1/holds/{id}/checkout", "Pays for a hold.")
            .by(SELLERS_AND_BUYERS)
            .withIdempotencyKey(IdempotencyKey.REQUIRED)
            .taking(CHECKOUT)
            .answering(201, PurchaseView.SHAPE)
            .answering(202, PurchaseView.SHAPE)
            .handledBy(this::checkout),
        Endpoint.of(
                GET, "/v1/purchases", "Lists purchases, newest first; for a buyer, only its own.")
            .by(SELLERS_AND_BUYERS)
            .withQuery("buyer", "Only of this buyer.")
            .withQuery("campaign", "Only of this campaign.")
            .withQuery("status", "Only with this status.")
            .paged(PurchaseView.SHAPE)
            .handledBy(this::list),
        Endpoint.of(GET, "/v1/purchases/{id}", "Shows a purchase.")
            .by(SELLERS_AND_BUYERS)
            .tagged()
            .answering(200, PurchaseView.SHAPE)
            .handledBy(this::show),
        refundRequests.endpoint(),
        webhook.endpoint(),
        mismatches.endpoint());
  }

  /**
   * The completed purchases of a campaign by hold, as the connection's transaction sees them,
   * except those being refunded.
   */
  public static Map<HoldId, String> soldTo(Connection connection, long campaign)
      throws SQLException {
    return PurchaseTable.completed(connection, campaign);
  }

  @Override
  public Set<HoldId> payingFor(Connection connection, ScopeId scope, Collection<HoldId> some)
      throws SQLException {
    return PurchaseTable.payingFor(
        connection, scope.value(), some.stream().map(HoldId::value).toList());
  }

  @Override
  public Optional<Instant> payableUntil(ScopeId scope, HoldId hold) {
    return transactor.call(
        connection -> PurchaseTable.payableUntil(connection, scope.value(), hold));
  }

  private Future<Answer> buy(Request request) {
    String key = request.idempotencyKey().orElseThrow();
    BuyerId buyer = RequestActor.buyer(request);
    JsonObject body = request.body();
    return campaigns
        .open(request)
        .compose(
            campaign -> {
              Acquire acquire =
                  new Acquire(
                      campaign.scope(),
                      // Equal keys give equal hold ids, so twins cannot both take stock. The ids
                      // differ from those of holds taken without paying.
                      HoldId.forPurpose("purchase", new BuyerId(request.principal().name()), key),
                      buyer,
                      CartItems.lines(campaign, items(body)),
                      Saga.KEPT_FOR,
                      RequestActor.actor(request.principal()));
              return begin(acquire, order(request, campaign, key, Optional.of(acquire)));
            });
  }

  private static JsonArray items(JsonObject body) {
    return body.containsKey("items")
        ? body.getJsonArray("items")
        : new JsonArray().add(new JsonObject().put("layer", body.getInteger("layer")));
  }

  private Future<Answer> checkout(Request request) {
    String key = request.idempotencyKey().orElseThrow();
    CartId cart = CartId.of(request.path("id"));
    return campaigns
        .visible(request, cart.campaign())
        .compose(
            campaign ->
                begin(
                    new Extend(
                        campaign.scope(),
                        cart.hold(),
                        Saga.KEPT_FOR,
                        RequestActor.actor(request.principal())),
                    order(request, campaign, key, Optional.empty())));
  }

  private static Order order(
      Request request, Campaign campaign, String key, Optional<Acquire> taking) {
    return new Order(
        campaign,
        new OnceKey(campaign.id(), request.principal().name(), key),
        request.fingerprint(),
        request.body().getString("paymentMethod"),
        taking);
  }

  /** The first transaction, then the payment. */
  private <R extends HoldOutcome> Future<Answer> begin(HoldCommand<R> command, Order order) {
    CompletionStage<Answer> answer =
        holds
            .submit(command, begin, order)
            .thenCompose(
                result ->
                    NEXT.of(
                            result.resultOr(
                                outcome ->
                                    new Answered(
                                        Outcomes.problem(order.campaign(), outcome).toAnswer())))
                        .apply(saga));
    return Future.fromCompletionStage(answer, vertx.getOrCreateContext());
  }

  private Future<Answer> show(Request request) {
    PurchaseId id = PurchaseId.of(request.path("id"));
    Principal principal = request.principal();
    return workers.read(
        request,
        () -> {
          JsonObject json = PurchaseView.json(visible(store.find(id), principal));
          if (principal.role() == Role.OPERATOR) {
            JsonArray disagreeing = mismatches.of(id);
            if (!disagreeing.isEmpty()) {
              json.put("mismatches", disagreeing);
            }
          }
          return Answer.ok(json);
        });
  }

  /** The provider's id of a payment that waits for its cardholder, if the caller may see it. */
  public Future<String> awaitedPayment(String purchase, Principal principal) {
    PurchaseId id = PurchaseId.of(purchase);
    return workers.run(() -> visible(store.find(id), principal).awaitedPayment());
  }

  private static Purchase visible(Optional<Purchase> found, Principal principal) {
    return found
        .filter(purchase -> RequestActor.maySee(principal, new BuyerId(purchase.buyer())))
        .orElseThrow(() -> PurchaseId.unknown().asException());
  }

  private Future<Answer> list(Request request) {
    Page page = request.page();
    Filter filter = Filter.of(request);
    Callable<Answer> read =
        () ->
            Answer.ok(
                page.of(
                    transactor.call(c -> PurchasePages.read(c, filter, page)),
                    PurchaseView::json,
                    one -> Cursor.of(one).toString()));
    // Only those of one buyer are found by index, whatever else is asked for.
    return filter.buyer().isPresent() ? workers.read(request, read) : workers.report(read);
  }
}
