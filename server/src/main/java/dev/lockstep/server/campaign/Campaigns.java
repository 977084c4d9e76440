package dev.lockstep.server.campaign;

import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.hold.Holds;
import dev.lockstep.hold.PoolId;
import dev.lockstep.once.Once;
import dev.lockstep.server.act.Act;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Endpoint.IdempotencyKey;
import dev.lockstep.server.api.InFlight;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.ProblemException;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.StoredAnswer;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.CampaignStore.Stocked;
import dev.lockstep.server.edge.HttpLimits;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxWork;
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

/** Campaigns over HTTP, and for the packages that sell them. Thread-safe. */
public final class Campaigns {
  private static final Pattern ID = Pattern.compile("[1-9]\\d{0,17}");
  private static final String DEFAULT_PAUSE_REASON = "Paused by the operator.";
  private static final Shape REASON =
      Shape.object().optional("reason", Shape.nullable(Shape.text(1, 500)));

  /** The scope of idempotency keys: a new campaign has no id yet. */
  private static final long ONCE_SCOPE = -3;

  private final Transactor transactor;
  private final Holds holds;
  private final Once once;
  private final Workers workers;
  private final HoldRules rules;
  private final CampaignStore store;
  private final LiveStock live;

  /**
   * @param rules bounds and defaults of holds in new campaigns
   * @param listener joins the transaction that changes a campaign
   * @param limits how many may watch
   */
  public Campaigns(
      Transactor transactor,
      Holds holds,
      Once once,
      Workers workers,
      Vertx vertx,
      InFlight inFlight,
      HoldRules rules,
      CampaignListener listener,
      HttpLimits limits) {
    this.transactor = transactor;
    this.holds = holds;
    this.once = once;
    this.rules = rules;
    this.workers = workers;
    this.store = new CampaignStore(transactor, holds, listener);
    this.live = new LiveStock(vertx, workers, store, inFlight, limits);
  }

  /** Creates sample campaigns on a server that never had any. Blocks. */
  public void createSamples() {
    store.createSamples(Samples.all(rules), "samples");
  }

  /**
   * The campaign named by a request's path, for a sale. Whether it still sells is up to its pools:
   * closing pauses them, and repeated requests still get their answers.
   *
   * @throws ProblemException (in the future) if it does not exist or was never published
   */
  public Future<Campaign> open(Request request) {
    return visible(request).map(Campaigns::requirePublished);
  }

  /** The campaign named by a request's path, if the caller may see it. */
  private Future<Campaign> visible(Request request) {
    return visible(request, id(request));
  }

  /**
   * Returns the campaign, unless it is a draft and the caller is not an operator.
   *
   * @throws ProblemException if the caller must not see it
   */
  public static Campaign visible(Campaign campaign, Optional<Principal> caller) {
    if (!campaign.isPublic() && !seesDrafts(caller)) {
      throw CampaignStore.unknown();
    }
    return campaign;
  }

  /** The campaign with this id, if the caller may see it. */
  public Future<Campaign> visible(Request request, long id) {
    return find(id).map(found -> visible(found, request.caller()));
  }

  /** The answer for an id that does not exist or is hidden from the caller. */
  public static ProblemException unknown() {
    return CampaignStore.unknown();
  }

  private static boolean seesDrafts(Optional<Principal> caller) {
    return caller.filter(who -> who.role() == Role.OPERATOR).isPresent();
  }

  /** The campaign with this id, even a draft. Cached once published: its status may be outdated. */
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

  /** The seed, secret until the campaign is drawn. Empty for a draft. Blocks. */
  public Optional<byte[]> seed(Connection connection, long id) throws SQLException {
    return CampaignTable.seed(connection, id);
  }

  /**
   * Stops selling on the server's own initiative. It is recorded like an operator's action and
   * announced on the sale's stream; an operator may resume. Blocks, and commits unless it joins the
   * caller's transaction.
   *
   * @return false if nothing was selling
   */
  public boolean stop(long id, String reason, String actor) {
    return store.stop(id, pool -> true, reason, actor);
  }

  /** Does the same for one pool. */
  public boolean stop(long id, PoolId pool, String reason, String actor) {
    return store.stop(id, pool::equals, reason, actor);
  }

  /** The problem for a pool that is paused with this reason. */
  public static Problem pausedProblem(String reason) {
    return reason.equals(CampaignStore.CLOSED)
        ? CampaignStore.notOpen(CampaignStatus.CLOSED).problem()
        : Problem.of("campaign-paused", 409, "Campaign paused", "The sale is paused: " + reason)
            .with("reason", reason);
  }

  /**
   * Records a manual action on something that a campaign holds or has sold. The caller commits. It
   * blocks nobody: the row's foreign key is compatible with the lock of other operators' actions.
   */
  public static void record(Connection connection, long campaign, Act act) throws SQLException {
    CampaignTable.record(connection, campaign, act);
  }

  /** The number of open streams of counts. */
  public int watchers() {
    return live.watchers();
  }

  /** The campaign id in a path. */
  public static long id(Request request) {
    String text = request.path("id");
    if (!ID.matcher(text).matches()) {
      throw CampaignStore.unknown();
    }
    return Long.parseLong(text);
  }

  /**
   * The id in a parameter or member {@code campaign}.
   *
   * @throws ProblemException if it is not an id
   */
  public static Optional<Long> named(Optional<String> campaign) {
    if (campaign.isPresent() && !ID.matcher(campaign.get()).matches()) {
      throw Problem.invalid("campaign", "must be a campaign's id").asException();
    }
    return campaign.map(Long::valueOf);
  }

  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(POST, "/v1/campaigns", "Creates a draft of a triangle or a drop.")
            .by(Role.OPERATOR)
            .withIdempotencyKey(IdempotencyKey.OPTIONAL)
            .taking(NewCampaign.shape(rules))
            .answering(201, CampaignView.SHAPE)
            .handledBy(this::create),
        Endpoint.of(GET, "/v1/campaigns", "Lists campaigns, oldest first.")
            .paged(CampaignView.SHAPE)
            .handledBy(this::list),
        Endpoint.of(GET, "/v1/campaigns/{id}", "Shows a campaign and what is left.")
            .tagged()
            .answering(200, CampaignView.SHAPE)
            .handledBy(this::show),
        action(
            "publish",
            "Creates the stock and opens the sale; commits to a secret seed.",
            this::publish),
        action("pause", "Stops selling, with a reason that buyers see.", this::pause),
        action("resume", "Resumes selling.", this::resume),
        action("close", "Ends the sale permanently.", this::close),
        Endpoint.of(GET, "/v1/campaigns/{id}/positions", "Lists every position of a triangle.")
            .tagged()
            .answering(200, Positions.SHAPE)
            .handledBy(this::positions),
        Endpoint.of(GET, "/v1/campaigns/{id}/live", "Streams the counts: event 'stock'.")
            .answeringAs("text/event-stream")
            .answering(200, CampaignView.STOCK)
            .handledBy(request -> visible(request).compose(seen -> live.watch(request, seen.id()))),
        Endpoint.of(GET, "/v1/campaigns/{id}/audit", "Lists every stock change, oldest first.")
            .by(Role.OPERATOR)
            .withQuery("pool", "Only this layer or SKU.")
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
    TxWork<Answer> work = connection -> made(CampaignStore.create(connection, campaign, actor));
    return workers.run(() -> StoredAnswer.call(transactor, once, ONCE_SCOPE, request, work));
  }

  private static Answer made(Campaign created) {
    return Answer.created("/v1/campaigns/" + created.id(), CampaignView.full(created, List.of()));
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

  private Future<Answer> show(Request request) {
    long id = id(request);
    return workers.read(
        request,
        () -> {
          Stocked stocked = store.stocked(id);
          visible(stocked.campaign(), request.caller());
          return Answer.ok(json(stocked));
        });
  }

  private Future<Answer> list(Request request) {
    Page page = request.page();
    long after = page.afterNumber(0);
    boolean drafts = seesDrafts(request.caller());
    return workers.read(
        request,
        () ->
            Answer.ok(
                page.of(
                    store.page(after, drafts, page.limit() + 1),
                    Campaigns::json,
                    one -> String.valueOf(one.campaign().id()),
                    one -> CampaignStore.countedBytes(one.campaign()))));
  }

  private Future<Answer> actions(Request request) {
    long id = id(request);
    Page page = request.page();
    long after = page.afterNumber(0);
    return workers.read(
        request,
        () ->
            Answer.ok(
                page.of(
                    store.actions(id, after, page.limit() + 1),
                    Action::json,
                    one -> String.valueOf(one.id()))));
  }

  private Future<Answer> positions(Request request) {
    long id = id(request);
    return workers.read(
        request, () -> Answer.ok(Positions.read(holds, visible(store.find(id), request.caller()))));
  }

  private Future<Answer> audit(Request request) {
    long id = id(request);
    Page page = request.page();
    Optional<String> pool = request.query("pool");
    return workers.read(
        request, () -> Answer.ok(StockTrail.page(holds, store.find(id), pool, page)));
  }

  private Future<Answer> view(Callable<Stocked> work) {
    return workers.run(() -> Answer.ok(json(work.call())));
  }

  private static JsonObject json(Stocked stocked) {
    return CampaignView.full(stocked.campaign(), stocked.pools());
  }

  private static @Nullable String reason(Request request) {
    return request.body().getString("reason");
  }

  private static Campaign requirePublished(Campaign campaign) {
    if (!campaign.isPublic()) {
      throw CampaignStore.notOpen(campaign.status());
    }
    return campaign;
  }
}
