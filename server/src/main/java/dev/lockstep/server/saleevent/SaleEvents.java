package dev.lockstep.server.saleevent;

import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.PoolCounts;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.StreamView;
import dev.lockstep.server.campaign.CampaignListener;
import dev.lockstep.server.draw.DrawListener;
import dev.lockstep.server.purchase.PurchaseEnd;
import dev.lockstep.sql.Exchange;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Appends sale events to the stream {@link #STREAM}, keyed by campaign, on the connection of the
 * transaction that makes them true; the caller commits. Thread-safe.
 *
 * <p>Locks the campaign's outbox key: after stock, purchases and accounts, before a draw.
 */
public final class SaleEvents implements CampaignListener, DrawListener {
  public static final String STREAM = "sales";

  /** Other endings have sold nothing. */
  private static final Set<String> TOLD = Set.of("completed", "refunded");

  private final Outbox outbox;
  private final Holds holds;
  private volatile boolean wanted;

  public SaleEvents(Outbox outbox, Holds holds) {
    this.outbox = outbox;
    this.holds = holds;
  }

  /**
   * Call this periodically with the current streams. Without a sink on {@link #STREAM}, nothing is
   * appended, since each sale would pay for it.
   */
  public void look(List<StreamView> streams) {
    wanted = streams.stream().anyMatch(one -> one.name().equals(STREAM) && !one.sinks().isEmpty());
  }

  /** Appends the endings of one campaign's purchases, in this order. */
  public void ending(Exchange exchange, long campaign, List<PurchaseEnd> ends) throws SQLException {
    if (!wanted) {
      return;
    }
    List<NewEvent> events =
        ends.stream()
            .filter(end -> TOLD.contains(end.status()))
            .map(end -> event(campaign, "purchase." + end.status(), end.purchase().get()))
            .toList();
    outbox.appendAll(exchange.connection(), events);
  }

  /**
   * Appends {@code campaign.soldOut} if no pool has units left. {@link #ending} has locked the key:
   * if two transactions sell the last units of two pools, the second sees the first's sale.
   */
  public void sold(Exchange exchange, List<Ended> sales) throws SQLException {
    if (!wanted || !mayBeTheLast(sales)) {
      return;
    }
    Connection connection = exchange.connection();
    ScopeId scope = sales.get(0).hold().scope();
    boolean soldOut =
        holds.pools(connection, scope).stream().allMatch(pool -> isSoldOut(pool.counts()));
    if (soldOut) {
      append(connection, scope.value(), "campaign.soldOut", about(scope.value()));
    }
  }

  @Override
  public void changed(
      Connection connection, long campaign, String change, Supplier<JsonObject> view) {
    if (wanted) {
      append(connection, campaign, "campaign." + change, view.get());
    }
  }

  @Override
  public void drawn(Connection connection, long campaign, String entrantsHash, int winners) {
    if (wanted) {
      append(
          connection,
          campaign,
          "campaign.drawn",
          about(campaign)
              .put("entrantsHash", entrantsHash)
              .put("winners", winners)
              .put("draw", "/v1/campaigns/" + campaign + "/draw"));
    }
  }

  /** False if another pool still has units: the sale of its last one checks again. */
  private static boolean mayBeTheLast(List<Ended> sales) {
    Map<PoolId, PoolCounts> after = new HashMap<>();
    sales.forEach(sale -> sale.pools().forEach(counts -> after.put(counts.pool(), counts)));
    return after.values().stream().allMatch(SaleEvents::isSoldOut);
  }

  private static boolean isSoldOut(PoolCounts counts) {
    return counts.sold() == counts.total();
  }

  private void append(Connection connection, long campaign, String type, JsonObject data) {
    outbox.append(connection, event(campaign, type, data));
  }

  /** A sale must not fail because its event is too large. */
  private NewEvent event(long campaign, String type, JsonObject data) {
    Content whole = Content.json(data.encode());
    Content content =
        whole.size() <= outbox.config().maxContentBytes()
            ? whole
            : Content.json(
                about(campaign).put("id", data.getString("id")).put("shortened", true).encode());
    return NewEvent.of(STREAM, String.valueOf(campaign), type, content);
  }

  private static JsonObject about(long campaign) {
    return new JsonObject().put("campaign", String.valueOf(campaign));
  }
}
