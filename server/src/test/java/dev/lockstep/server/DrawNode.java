package dev.lockstep.server;

import dev.lockstep.combine.Companion;
import dev.lockstep.combine.Companion.Accompanied;
import dev.lockstep.hold.AcquireResult;
import dev.lockstep.hold.Actor;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.once.Once;
import dev.lockstep.server.api.InFlight;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.CampaignListener;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.campaign.HoldRules;
import dev.lockstep.server.draw.Beacon;
import dev.lockstep.server.draw.DrawListener;
import dev.lockstep.server.draw.Draws;
import dev.lockstep.server.draw.SoldTo;
import dev.lockstep.server.edge.HttpLimits;
import dev.lockstep.sql.Exchange;
import dev.lockstep.tx.Transactor;
import dev.lockstep.work.OpenTransaction;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;

/** A node that sells and draws, without HTTP and without payments: a sold hold is a purchase. */
final class DrawNode implements AutoCloseable {
  static final SoldTo EVERY_SALE = DrawNode::everySale;
  private static final Actor SELLER = Actor.operator("seller");

  private final Vertx vertx = Vertx.vertx();
  private final Holds holds;
  final Draws draws;

  DrawNode(DataSource database, SoldTo soldTo, Optional<Beacon> beacon) {
    Transactor transactor = new Transactor(database);
    holds = new Holds(transactor);
    Workers workers = new Workers(vertx);
    Campaigns campaigns =
        new Campaigns(
            transactor,
            holds,
            new Once(transactor),
            workers,
            vertx,
            new InFlight(),
            HoldRules.DEFAULT,
            CampaignListener.NONE,
            HttpLimits.DEFAULT);
    draws = new Draws(transactor, holds, workers, campaigns, soldTo, beacon, DrawListener.NONE);
  }

  /** Holds every position of a triangle, one at a time, apex first. */
  List<HoldId> holdAll(String campaign, int baseLength) {
    List<HoldId> taken = new ArrayList<>();
    for (int layer = 1; layer <= baseLength; layer++) {
      for (int i = 0; i < layer; i++) {
        taken.add(hold(campaign, layer));
      }
    }
    return taken;
  }

  HoldId hold(String campaign, int layer) {
    HoldId id = HoldId.next();
    AcquireResult result =
        holds
            .submit(
                new Acquire(
                    scope(campaign),
                    id,
                    new BuyerId("somebody"),
                    List.of(Line.of(new PoolId(layer), 1)),
                    Duration.ofHours(1),
                    SELLER))
            .toCompletableFuture()
            .join();
    if (!(result instanceof Granted)) {
      throw new IllegalStateException(result.toString());
    }
    return id;
  }

  /** Through the combiner, as purchases are confirmed. */
  HoldOutcome confirm(String campaign, HoldId hold) {
    return holds
        .submit(
            new Confirm(scope(campaign), hold, SELLER), Companion.writing(this::afterSales), hold)
        .toCompletableFuture()
        .join()
        .outcome();
  }

  /** On a connection whose transaction the test ends. */
  HoldOutcome confirmOn(Connection connection, String campaign, HoldId hold) throws SQLException {
    HoldOutcome outcome = sellOn(connection, campaign, hold);
    draws.afterSales(Exchange.within(connection), List.of(outcome));
    return outcome;
  }

  /** Takes a sold position back; whether it may. The test ends the transaction. */
  boolean returnOn(Connection connection, String campaign, HoldId hold) throws SQLException {
    Ended returned = (Ended) holds.join(connection, new Return(scope(campaign), hold, SELLER));
    return draws.mayComeBack(connection, List.of(returned.hold()));
  }

  /** The sale alone; nobody looks whether it was the last. */
  HoldOutcome sellOn(Connection connection, String campaign, HoldId hold) {
    return holds.join(connection, new Confirm(scope(campaign), hold, SELLER));
  }

  private void afterSales(
      OpenTransaction transaction, List<Accompanied<HoldId, HoldOutcome>> commands)
      throws SQLException {
    draws.afterSales(
        Exchange.of(transaction), commands.stream().map(Accompanied::outcome).toList());
  }

  private static Map<HoldId, String> everySale(Connection connection, long campaign)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT hold FROM lockstep.hold WHERE scope = ? AND state = 1")) {
      statement.setLong(1, campaign);
      Map<HoldId, String> sales = new HashMap<>();
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          HoldId hold = new HoldId(row.getObject(1, UUID.class));
          sales.put(hold, "p-" + hold);
        }
      }
      return sales;
    }
  }

  private static ScopeId scope(String campaign) {
    return new ScopeId(Long.parseLong(campaign));
  }

  @Override
  public void close() {
    holds.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }
}
