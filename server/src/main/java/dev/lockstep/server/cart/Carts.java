package dev.lockstep.server.cart;

import static io.vertx.core.http.HttpMethod.DELETE;
import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;
import static io.vertx.core.http.HttpMethod.PUT;

import dev.lockstep.hold.Actor;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldCommand;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Change;
import dev.lockstep.hold.HoldCommand.Extend;
import dev.lockstep.hold.HoldCommand.Release;
import dev.lockstep.hold.HoldFilter;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldIdReused;
import dev.lockstep.hold.Holds;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceKey;
import dev.lockstep.server.act.Act;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Endpoint.IdempotencyKey;
import dev.lockstep.server.api.KeyedAnswers;
import dev.lockstep.server.api.KeyedAnswers.KeyedAnswer;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.StoredAnswer;
import dev.lockstep.server.api.Ticket;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.key.Keys;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** Holds over HTTP: taken, changed, extended, released, shown. Thread-safe. */
public final class Carts {
  private static final int MAX_EXTENSION_SECONDS = 24 * 60 * 60;
  private static final Role[] SELLERS_AND_BUYERS = {Role.OPERATOR, Role.SERVICE, Role.BUYER};

  private static final Shape NEW_CART =
      Shape.object()
          .optional("buyer", Shape.text(1, Keys.MAX_BUYER_LENGTH))
          .required("items", CartItems.SHAPE);

  private static final Shape CHANGE = Shape.object().required("items", CartItems.SHAPE);
  private static final Shape EXTENSION =
      Shape.object().optional("seconds", Shape.integer(1, MAX_EXTENSION_SECONDS));

  private final Vertx vertx;
  private final Workers workers;
  private final Campaigns campaigns;
  private final Holds holds;
  private final Once once;
  private final KeyedAnswers<Campaign, HoldOutcome> companion;
  private final CheckoutGuard guard;
  private final Checkouts checkouts;

  public Carts(
      Vertx vertx,
      Workers workers,
      Campaigns campaigns,
      Holds holds,
      Once once,
      Checkouts checkouts) {
    this.vertx = vertx;
    this.workers = workers;
    this.campaigns = campaigns;
    this.holds = holds;
    this.once = once;
    this.companion = new KeyedAnswers<>(once, Carts::decided);
    this.guard = new CheckoutGuard(checkouts);
    this.checkouts = checkouts;
  }

  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(POST, "/v1/campaigns/{id}/holds", "Holds items for a buyer, all or none.")
            .by(SELLERS_AND_BUYERS)
            .withIdempotencyKey(IdempotencyKey.REQUIRED)
            .taking(NEW_CART)
            .answering(201, CartView.SHAPE)
            .handledBy(this::create),
        Endpoint.of(GET, "/v1/holds", "Lists a campaign's holds, newest first.")
            .by(Role.OPERATOR)
            .withQuery("campaign", "The campaign; required.")
            .withQuery("buyer", "Only this buyer's.")
            .withQuery("state", "Only held, sold, released, expired or returned ones.")
            .paged(CartView.SHAPE)
            .handledBy(this::list),
        Endpoint.of(GET, "/v1/holds/{id}", "Shows a hold.")
            .by(SELLERS_AND_BUYERS)
            .tagged()
            .answering(200, CartView.SHAPE)
            .handledBy(this::show),
        Endpoint.of(PUT, "/v1/holds/{id}", "Replaces a hold's items, all or none.")
            .by(SELLERS_AND_BUYERS)
            .taking(CHANGE)
            .answering(200, CartView.SHAPE)
            .handledBy(this::change),
        Endpoint.of(
                POST,
                "/v1/holds/{id}/extend",
                "Moves a hold's expiry to so long from now. A buyer may do so as often and as far"
                    + " as the campaign says: maxExtensions, holdSeconds, maxHoldSeconds.")
            .by(SELLERS_AND_BUYERS)
            .withIdempotencyKey(IdempotencyKey.OPTIONAL)
            .perhapsTaking(EXTENSION)
            .answering(200, CartView.SHAPE)
            .handledBy(this::extend),
        Endpoint.of(DELETE, "/v1/holds/{id}", "Releases a hold.")
            .by(SELLERS_AND_BUYERS)
            .perhapsTaking(Act.REASON)
            .answering(200, CartView.SHAPE)
            .handledBy(this::release));
  }

  private Future<Answer> create(Request request) {
    String key = request.idempotencyKey().orElseThrow();
    BuyerId buyer = RequestActor.buyer(request);
    Actor actor = RequestActor.actor(request.principal());
    return campaigns
        .open(request)
        .compose(
            campaign -> {
              Acquire command =
                  new Acquire(
                      campaign.scope(),
                      // Equal keys give equal hold ids, so twins cannot both take stock. The ids
                      // differ from those of purchases.
                      HoldId.forPurpose("cart", new BuyerId(request.principal().name()), key),
                      buyer,
                      CartItems.lines(campaign, request.body().getJsonArray("items")),
                      campaign.holdFor(),
                      actor);
              OnceKey under = onceKey(request, campaign, key);
              return take(command, new Ticket<>(campaign, under, request.fingerprint()));
            });
  }

  private Future<Answer> take(Acquire command, Ticket<Campaign> ticket) {
    return onLoop(holds.submit(command, companion, ticket))
        .map(result -> result.resultOr(outcome -> Outcomes.answer(ticket.subject(), outcome, 201)));
  }

  private static KeyedAnswer decided(Campaign campaign, HoldOutcome outcome) {
    return new KeyedAnswer(
        Outcomes.answer(campaign, outcome, 201),
        outcome instanceof Granted granted && !granted.replayed(),
        !(outcome instanceof HoldIdReused));
  }

  private Future<Answer> list(Request request) {
    Page page = request.page();
    HoldFilter filter = CartSearch.filter(request, page);
    return campaigns
        .find(CartSearch.campaign(request))
        .compose(
            campaign ->
                workers.read(
                    request,
                    () ->
                        Answer.ok(
                            page.of(
                                holds.list(campaign.scope(), filter, page.limit() + 1),
                                hold -> CartView.json(campaign, hold),
                                hold -> hold.id().toString()))));
  }

  private Future<Answer> show(Request request) {
    CartId id = CartId.of(request.path("id"));
    Principal principal = request.principal();
    return campaigns
        .visible(request, id.campaign())
        .compose(
            campaign ->
                workers.read(
                    request,
                    () -> {
                      Hold hold = visible(holds.find(campaign.scope(), id.hold()), principal);
                      JsonObject json = CartView.json(campaign, hold);
                      // In checkout a hold outlives its time to pay; buyers need to see the latter.
                      checkouts
                          .payableUntil(campaign.scope(), hold.id())
                          .ifPresent(until -> json.put("expiresAt", until.toString()));
                      return Answer.ok(json);
                    }));
  }

  private Future<Answer> change(Request request) {
    return onHold(
        request,
        (campaign, hold, actor) ->
            new Change(
                campaign.scope(),
                hold,
                CartItems.lines(campaign, request.body().getJsonArray("items")),
                actor));
  }

  private Future<Answer> release(Request request) {
    Optional<Act> act =
        request.principal().role() == Role.OPERATOR
            ? Optional.of(Act.of(request, "release", request.path("id")))
            : Optional.empty();
    return onHold(
        request, act, (campaign, hold, actor) -> new Release(campaign.scope(), hold, actor));
  }

  private Future<Answer> extend(Request request) {
    Integer seconds = request.body().getInteger("seconds");
    MakeCommand make =
        (campaign, hold, actor) ->
            new Extend(
                campaign.scope(),
                hold,
                seconds == null ? campaign.holdFor() : Duration.ofSeconds(seconds),
                actor,
                // Only buyers are bounded: they could keep a hold for ever without paying.
                actor.onlyBuyer().map(buyer -> campaign.buyersBound()));
    return request.idempotencyKey().isEmpty() ? onHold(request, make) : extendOnce(request, make);
  }

  /** Locks the key, then the pool, in one transaction: the global lock order. */
  private Future<Answer> extendOnce(Request request, MakeCommand make) {
    CartId id = CartId.of(request.path("id"));
    Actor actor = RequestActor.actor(request.principal());
    return campaigns
        .visible(request, id.campaign())
        .compose(
            campaign ->
                workers.run(
                    () ->
                        StoredAnswer.call(
                            once,
                            campaign.id(),
                            request,
                            connection ->
                                Outcomes.answer(
                                    campaign,
                                    holds
                                        .join(
                                            connection,
                                            make.command(campaign, id.hold(), actor),
                                            guard,
                                            Optional.empty())
                                        .outcome(),
                                    200))));
  }

  @FunctionalInterface
  private interface MakeCommand {
    HoldCommand<?> command(Campaign campaign, HoldId hold, Actor actor);
  }

  private Future<Answer> onHold(Request request, MakeCommand make) {
    return onHold(request, Optional.empty(), make);
  }

  private Future<Answer> onHold(Request request, Optional<Act> act, MakeCommand make) {
    CartId id = CartId.of(request.path("id"));
    Actor actor = RequestActor.actor(request.principal());
    return campaigns
        .visible(request, id.campaign())
        .compose(
            campaign ->
                onLoop(holds.submit(make.command(campaign, id.hold(), actor), guard, act))
                    .map(result -> Outcomes.answer(campaign, result.outcome(), 200)));
  }

  private static OnceKey onceKey(Request request, Campaign campaign, String key) {
    return new OnceKey(campaign.id(), request.principal().name(), key);
  }

  /** Hides other buyers' holds. */
  private static Hold visible(Optional<Hold> found, Principal principal) {
    return found
        .filter(hold -> RequestActor.maySee(principal, hold.buyer()))
        .orElseThrow(() -> Problem.notFound("such hold").asException());
  }

  private <R> Future<R> onLoop(CompletionStage<R> stage) {
    return Future.fromCompletionStage(stage, vertx.getOrCreateContext());
  }
}
