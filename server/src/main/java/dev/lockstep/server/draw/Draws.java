package dev.lockstep.server.draw;

import static io.vertx.core.http.HttpMethod.GET;

import dev.lockstep.combine.Rounds;
import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldState;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.PoolCounts;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.TakenUnit;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.campaign.CampaignKind;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.job.BackgroundJobs;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Draws the winners of a triangle when its last position is sold: exactly once, in spite of crashes
 * and several nodes, and verifiable by anyone from the document at {@code GET
 * /v1/campaigns/{id}/draw}.
 *
 * <p>{@link #afterSales} runs in the caller's transaction, and the caller commits. Thread-safe.
 */
public final class Draws {
  /** How often waiting draws ask the beacon. */
  private static final Duration BEACON_INTERVAL = Duration.ofSeconds(5);

  private final Transactor transactor;
  private final Holds holds;
  private final Workers workers;
  private final Campaigns campaigns;
  private final SoldTo soldTo;
  private final Optional<Beacon> beacon;
  private final DrawListener listener;
  private final Rounds<DrawTable.Waiting> waiting = new Rounds<>();

  /**
   * @param beacon empty: the last sale's transaction ranks the winners
   * @param listener joins the transaction that ranks them
   */
  public Draws(
      Transactor transactor,
      Holds holds,
      Workers workers,
      Campaigns campaigns,
      SoldTo soldTo,
      Optional<Beacon> beacon,
      DrawListener listener) {
    this.transactor = transactor;
    this.holds = holds;
    this.workers = workers;
    this.campaigns = campaigns;
    this.soldTo = soldTo;
    this.beacon = beacon;
    this.listener = listener;
  }

  /** What a transaction has sold of one campaign. */
  private static final class Sales {
    final Map<PoolId, PoolCounts> after = new HashMap<>();
    Instant at = Instant.EPOCH;

    void add(Ended sale) {
      sale.pools().forEach(counts -> after.put(counts.pool(), counts));
      at = sale.hold().end().orElseThrow().at();
    }

    /** False if another layer still has units: the sale of its last one checks again. */
    boolean mayBeTheLast() {
      return after.values().stream().allMatch(pool -> pool.sold() == pool.total());
    }
  }

  /**
   * Call this at the end of a transaction that confirms holds, with the outcomes of all its
   * confirmations in order, after writing the purchases' own rows. It freezes the entrants of a
   * campaign that is now sold out. It sends no statement unless the transaction has sold the last
   * unit of every layer it touched, which usually happens once per layer.
   *
   * <p>Locks, after everything else: the campaign's gate, then its new draw.
   */
  public void afterSales(Exchange exchange, Collection<? extends HoldOutcome> confirmations)
      throws SQLException {
    Map<Long, Sales> byCampaign = new TreeMap<>();
    for (HoldOutcome outcome : confirmations) {
      if (outcome instanceof Ended sale && isNewSaleOfUnits(sale)) {
        byCampaign.computeIfAbsent(sale.hold().scope().value(), campaign -> new Sales()).add(sale);
      }
    }
    for (Map.Entry<Long, Sales> campaign : byCampaign.entrySet()) {
      if (campaign.getValue().mayBeTheLast()) {
        freezeIfSoldOut(exchange.connection(), campaign.getKey(), campaign.getValue().at);
      }
    }
  }

  /**
   * Call this in a transaction that takes back sold units of one campaign, before it commits. A
   * draw enters the same gate, so either the draw exists already or it will see what came back.
   *
   * <p>Locks, after everything else: the campaign's gate.
   *
   * @return false if the campaign is drawn, or about to be: the draw rests on what was sold
   */
  public boolean mayComeBack(Connection connection, Collection<Hold> returned) throws SQLException {
    for (Hold sale : returned) {
      boolean units = sale.lines().stream().noneMatch(line -> line.units().isEmpty());
      if (units) {
        long campaign = sale.scope().value();
        DrawTable.enterGate(connection, campaign);
        // A separate statement, so that it sees what was committed while this one waited for the
        // gate.
        return !DrawTable.exists(connection, campaign);
      }
    }
    return true;
  }

  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(
                GET,
                "/v1/campaigns/{id}/draw",
                "Shows a triangle's draw and, once it is drawn, all it takes to verify it.")
            .tagged()
            .answering(200, DrawView.SHAPE)
            .handledBy(this::show));
  }

  /** With a beacon: polls for the values of waiting lists. */
  public BackgroundJobs backgroundJobs() {
    return beacon.isPresent()
        ? BackgroundJobs.none().every(BEACON_INTERVAL, "draws", job -> completeWaiting())
        : BackgroundJobs.none();
  }

  /**
   * Ranks the winners of every list whose beacon value is known; a failing list does not delay the
   * others. Several nodes may do so at once. Blocks and commits.
   */
  public void completeWaiting() {
    waiting.each(transactor.call(DrawTable::waiting), this::completeWaiting);
  }

  private int completeWaiting(DrawTable.Waiting draw) {
    // Asked outside any transaction: no lock is held over a network call.
    Optional<byte[]> value = beacon.orElseThrow().valueFor(draw.frozenAt());
    if (value.isPresent()) {
      transactor.run(
          connection ->
              complete(
                  connection,
                  campaigns.find(connection, draw.campaign()).orElseThrow(),
                  value,
                  RoundTrip.now(connection)));
    }
    return 1;
  }

  /** A drop has counted pools, and no draw. */
  private static boolean isNewSaleOfUnits(Ended sale) {
    return sale.hold().state() == HoldState.SOLD
        && !sale.replayed()
        && sale.hold().lines().stream().noneMatch(line -> line.units().isEmpty());
  }

  private void freezeIfSoldOut(Connection connection, long id, Instant at) throws SQLException {
    DrawTable.enterGate(connection, id);
    // A separate statement, so that it sees what was committed while this one waited for the gate.
    Campaign campaign = campaigns.find(connection, id).orElseThrow();
    boolean soldOut =
        holds.pools(connection, campaign.scope()).stream()
            .allMatch(pool -> pool.counts().sold() == pool.counts().total());
    if (soldOut
        && DrawTable.freeze(connection, id, entrants(connection, campaign), at)
        && beacon.isEmpty()) {
      complete(connection, campaign, Optional.empty(), at);
    }
  }

  private EntrantList entrants(Connection connection, Campaign campaign) throws SQLException {
    Map<HoldId, String> purchases = soldTo.purchases(connection, campaign.id());
    List<Entrant> entrants = new ArrayList<>();
    for (TakenUnit unit : holds.takenUnits(connection, campaign.scope())) {
      String purchase = purchases.get(unit.hold());
      if (unit.state() == HoldState.SOLD && purchase != null) {
        JsonObject position = campaign.item(unit.pool()).position(unit.unit());
        entrants.add(
            new Entrant(position.getInteger("layer"), position.getInteger("column"), purchase));
      }
    }
    return new EntrantList(entrants);
  }

  private void complete(
      Connection connection, Campaign campaign, Optional<byte[]> value, Instant at)
      throws SQLException {
    DrawTable.Row draw = DrawTable.find(connection, campaign.id()).orElseThrow();
    EntrantList list = draw.entrants();
    byte[] seed = campaigns.seed(connection, campaign.id()).orElseThrow();
    var winners = Ranking.winners(seed, list, value, campaign.prizes());
    if (DrawTable.complete(connection, campaign.id(), value, winners, at)) {
      listener.drawn(connection, campaign.id(), draw.entrantsHash(), winners.size());
    }
  }

  private Future<Answer> show(Request request) {
    long id = Campaigns.id(request);
    return workers.read(
        request,
        () -> Answer.ok(transactor.call(connection -> document(connection, id, request.caller()))));
  }

  private JsonObject document(Connection connection, long id, Optional<Principal> caller)
      throws SQLException {
    Campaign campaign =
        Campaigns.visible(campaigns.find(connection, id).orElseThrow(Campaigns::unknown), caller);
    if (campaign.kind() != CampaignKind.TRIANGLE) {
      throw Problem.notFound("such triangle").asException();
    }
    Optional<DrawTable.Row> draw = DrawTable.find(connection, id);
    boolean drawn = draw.flatMap(DrawTable.Row::drawnAt).isPresent();
    // The seed leaves the database only once it is no longer secret.
    Optional<byte[]> seed = drawn ? campaigns.seed(connection, id) : Optional.empty();
    return DrawView.json(campaign, draw, seed);
  }
}
