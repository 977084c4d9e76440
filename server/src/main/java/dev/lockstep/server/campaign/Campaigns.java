package dev.lockstep.server.campaign;

import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.hold.Holds;
import dev.lockstep.hold.PoolId;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.InFlight;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.ProblemException;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.CampaignStore.Stocked;
import dev.lockstep.server.edge.HttpLimits;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Campaigns over HTTP, and for the packages that sell from them. Thread-safe. */
public final class Campaigns {
  private static final Pattern ID = Pattern.compile("[1-9]\\d{0,17}");
  private static final String DEFAULT_PAUSE_REASON = "Paused by the operator.";
  private static final Shape REASON =
      Shape.object().optional("reason", Shape.nullable(Shape.text(1, 500)));

  private final Holds holds;
  private final Workers workers;
  private final HoldRules rules;
  private final CampaignStore store;
  private final LiveStock live;

  /**
   * @param rules what a new campaign's holds may be
   * @param listener what else happens in the transaction that changes a campaign
   * @param limits how many may watch
   */
  public Campaigns(
      Transactor transactor,
      Holds holds,
      Workers workers,
      Vertx vertx,
      InFlight inFlight,
      HoldRules rules,
      CampaignListener listener,
      HttpLimits limits) {
    this.holds = holds;
    this.rules = rules;
    this.workers = workers;
    this.store = new CampaignStore(transactor, holds, listener);
    this.live = new LiveStock(vertx, workers, store, inFlight, limits);
  }

  /** Something to buy for a server that never had a campaign. Blocks. */
  public void createSamples() {
    store.createSamples(Samples.all(rules), "samples");
  }

  /**
   * A campaign that has been published, to sell from; whether it still sells is decided by its
   * pools.
   *
   * @throws ProblemException (in the future) if there is none, or it is not open
   */
  public Future<Campaign> open(long id) {
    Optional<Campaign> remembered = store.remembered(id);
    return remembered.isPresent()
        ? Future.succeededFuture(remembered.get())
        : workers.run(() -> requireOpen(store.find(id)));
  }

  /** A campaign that has ever been published, to look things up in. */
  public Future<Campaign> find(long id) {
    Optional<Campaign> remembered = store.remembered(id);
    return remembered.isPresent()
        ? Future.succeededFuture(remembered.get())
        : workers.run(() -> store.find(id));
  }

  /** As the connection's transaction sees it. Blocks; locks nothing. */
  public Optional<Campaign> find(Connection connection, long id) throws SQLException {
    return CampaignTable.find(connection, id);
  }

  /** The seed, which is a secret until the campaign is drawn. Empty for a draft. Blocks. */
  public Optional<byte[]> seed(Connection connection, long id) throws SQLException {
    return CampaignTable.seed(connection, id);
  }

  /**
   * Stops selling without being asked to: written down as what operators do is, and told on the
   * sale's stream. An operator may resume it. Blocks, and commits unless the caller's transaction
   * does.
   *
   * @return false if nothing of it was selling
   */
  public boolean stop(long id, String reason, String actor) {
    return store.stop(id, pool -> true, reason, actor);
  }

  /** The same for one pool of it. */
  public boolean stop(long id, PoolId pool, String reason, String actor) {
    return store.stop(id, pool::equals, reason, actor);
  }

  /** What to say when a pool is paused with this reason. */
  public static Problem pausedProblem(String reason) {
    return reason.equals(CampaignStore.CLOSED)
        ? CampaignStore.notOpen(Status.CLOSED).problem()
        : Problem.of("campaign-paused", 409, "Campaign paused", "The sale is paused: " + reason)
            .with("reason", reason);
  }

  /** How many streams of counts are open. */
  public int watchers() {
    return live.watchers();
  }

  /** A campaign's id in a path. */
  public static long id(Request request) {
    String text = request.path("id");
    if (!ID.matcher(text).matches()) {
      throw CampaignStore.unknown();
    }
    return Long.parseLong(text);
  }

  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(POST, "/v1/campaigns", "Makes a draft of a triangle or a drop.")
            .by(Role.OPERATOR)
            .taking(NewCampaign.shape(rules))
            .answering(201, CampaignView.SHAPE)
            .handledBy(this::create),
        Endpoint.of(GET, "/v1/campaigns", "Lists campaigns, oldest first.")
            .paged(CampaignView.SHAPE)
            .handledBy(this::list),
        Endpoint.of(GET, "/v1/campaigns/{id}", "Shows a campaign and what is left.")
            .answering(200, CampaignView.SHAPE)
            .handledBy(request -> view(() -> store.stocked(id(request)))),
        action(
            "publish",
            "Makes the stock and opens the sale; commits to a secret seed.",
            this::publish),
        action("pause", "Stops selling, with a reason that buyers see.", this::pause),
        action("resume", "Sells again.", this::resume),
        action("close", "Ends the sale for good.", this::close),
        Endpoint.of(GET, "/v1/campaigns/{id}/positions", "Lists every position of a triangle.")
            .answering(200, Positions.SHAPE)
            .handledBy(this::positions),
        Endpoint.of(GET, "/v1/campaigns/{id}/live", "Streams the counts: event 'stock'.")
            .answeringAs("text/event-stream")
            .answering(200, CampaignView.STOCK)
            .handledBy(request -> live.watch(request, id(request))),
        Endpoint.of(GET, "/v1/campaigns/{id}/audit", "Lists every stock change, oldest first.")
            .by(Role.OPERATOR)
            .withQuery("pool", "Only this layer or sku.")
            .paged(StockTrail.SHAPE)
            .handledBy(this::audit),
        Endpoint.of(GET, "/v1/campaigns/{id}/actions", "Lists what operators did, oldest first.")
            .by(Role.OPERATOR)
            .paged(Action.SHAPE)
            .handledBy(this::actions));
  }

  private static Endpoint action(String name, String summary, Endpoint.Handler handler) {
    return Endpoint.of(POST, "/v1/campaigns/{id}/" + name, summary)
        .by(Role.OPERATOR)
        .perhapsTaking(REASON)
        .answering(200, CampaignView.SHAPE)
        .handledBy(handler);
  }

  private Future<Answer> create(Request request) {
    NewCampaign campaign = NewCampaign.of(request.body(), rules);
    String actor = request.principal().name();
    return workers
        .run(() -> store.create(campaign, actor))
        .map(
            created ->
                Answer.created(
                    "/v1/campaigns/" + created.id(), CampaignView.full(created, List.of())));
  }

  private Future<Answer> publish(Request request) {
    String actor = request.principal().name();
    return view(() -> store.publish(id(request), reason(request), actor));
  }

  private Future<Answer> pause(Request request) {
    String actor = request.principal().name();
    String reason = reason(request);
    return view(
        () -> store.pause(id(request), reason == null ? DEFAULT_PAUSE_REASON : reason, actor));
  }

  private Future<Answer> resume(Request request) {
    String actor = request.principal().name();
    return view(() -> store.resume(id(request), reason(request), actor));
  }

  private Future<Answer> close(Request request) {
    String actor = request.principal().name();
    return view(() -> store.close(id(request), reason(request), actor));
  }

  private Future<Answer> list(Request request) {
    Page page = request.page();
    long after = after(page);
    return workers
        .run(() -> store.page(after, page.limit() + 1))
        .map(
            found ->
                Answer.ok(
                    page.of(found, Campaigns::json, one -> String.valueOf(one.campaign().id()))));
  }

  private Future<Answer> actions(Request request) {
    long id = id(request);
    Page page = request.page();
    long after = after(page);
    return workers
        .run(() -> store.actions(id, after, page.limit() + 1))
        .map(found -> Answer.ok(page.of(found, Action::json, one -> String.valueOf(one.id()))));
  }

  private static long after(Page page) {
    return page.after()
        .map(
            text -> {
              if (!text.matches("\\d{1,18}")) {
                throw Problem.invalid("after", "must be the 'next' of a page").asException();
              }
              return Long.parseLong(text);
            })
        .orElse(0L);
  }

  private Future<Answer> positions(Request request) {
    long id = id(request);
    return workers.run(() -> Positions.read(holds, store.find(id))).map(Answer::ok);
  }

  private Future<Answer> audit(Request request) {
    long id = id(request);
    Page page = request.page();
    Optional<String> pool = request.query("pool");
    return workers.run(() -> StockTrail.page(holds, store.find(id), pool, page)).map(Answer::ok);
  }

  private Future<Answer> view(Callable<Stocked> work) {
    return workers.run(work).map(stocked -> Answer.ok(json(stocked)));
  }

  private static JsonObject json(Stocked stocked) {
    return CampaignView.full(stocked.campaign(), stocked.pools());
  }

  private static @Nullable String reason(Request request) {
    return request.body().getString("reason");
  }

  private static Campaign requireOpen(Campaign campaign) {
    if (campaign.status() != Status.PUBLISHED) {
      throw CampaignStore.notOpen(campaign.status());
    }
    return campaign;
  }
}
