package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.server.draw.Beacon;
import dev.lockstep.server.verify.DrawVerifier;
import dev.lockstep.server.verify.Verdict;
import dev.lockstep.sql.Exchange;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One draw per campaign, and anyone can verify it: G8. */
@Timeout(120)
class OneDrawTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final int BASE = 4;
  private static final int POSITIONS = 10;
  private static final int NODES = 3;
  private static final List<DrawNode> nodes = new ArrayList<>();

  @BeforeAll
  static void startNodes() {
    for (int i = 0; i < NODES; i++) {
      nodes.add(node(Optional.empty()));
    }
  }

  @AfterAll
  static void stopNodes() {
    nodes.forEach(DrawNode::close);
  }

  @Test
  void lastConfirmationsOnManyNodesAtOnceDrawOnce() throws Exception {
    for (int round = 0; round < 5; round++) {
      String campaign = triangle();
      List<HoldId> held = nodes.get(0).holdAll(campaign, BASE);

      Race.<HoldOutcome>of(POSITIONS)
          .run(i -> nodes.get(i % NODES).confirm(campaign, held.get(i)))
          .valuesOrThrow();

      assertThat(draws(campaign)).isEqualTo(1);
      assertDrawnAndVerified(campaign, POSITIONS);
    }
  }

  /** Each transaction sells the last position of a layer while the other is not yet committed. */
  @Test
  void twoLayersFinishedByTransactionsThatCannotSeeEachOtherAreDrawnByTheSecond() throws Exception {
    String campaign = triangle();
    List<HoldId> held = sellAllBut(2, campaign);
    try (Connection first = begun();
        Connection second = begun()) {
      nodes.get(0).confirmOn(first, campaign, held.get(0));
      CompletableFuture<Void> other =
          CompletableFuture.runAsync(
              () -> {
                try {
                  nodes.get(1).confirmOn(second, campaign, held.get(1));
                  second.commit();
                } catch (SQLException e) {
                  throw new IllegalStateException(e);
                }
              });
      awaitLockWaitOr(other);
      assertThat(other).isNotDone();
      assertThat(draws(campaign)).isZero();
      first.commit();
      other.join();
    }
    assertThat(draws(campaign)).isEqualTo(1);
    assertDrawnAndVerified(campaign, POSITIONS);
  }

  @Test
  void withoutTheGateTheSameTwoTransactionsLeaveACampaignThatNobodyDraws() throws Exception {
    String campaign = triangle();
    List<HoldId> held = sellAllBut(2, campaign);
    boolean firstDraws;
    boolean secondDraws;
    try (Connection first = begun();
        Connection second = begun()) {
      nodes.get(0).sellOn(first, campaign, held.get(0));
      firstDraws = NaiveDraw.seesAllSold(first, campaign);
      nodes.get(1).sellOn(second, campaign, held.get(1));
      secondDraws = NaiveDraw.seesAllSold(second, campaign);
      first.commit();
      second.commit();
    }
    assertThat(firstDraws || secondDraws).isFalse();
    try (Connection later = begun()) {
      assertThat(NaiveDraw.seesAllSold(later, campaign)).isTrue();
    }
  }

  @Test
  void theLastSaleWaitsForAReturnThatItCannotSeeAndDoesNotDrawThen() throws Exception {
    String campaign = triangle();
    List<HoldId> held = nodes.get(0).holdAll(campaign, BASE);
    held.subList(1, held.size()).forEach(hold -> nodes.get(0).confirm(campaign, hold));
    try (Connection returning = begun();
        Connection selling = begun()) {
      assertThat(nodes.get(0).returnOn(returning, campaign, held.get(1))).isTrue();
      CompletableFuture<Void> sale =
          CompletableFuture.runAsync(
              () -> {
                try {
                  nodes.get(1).confirmOn(selling, campaign, held.get(0));
                  selling.commit();
                } catch (SQLException e) {
                  throw new IllegalStateException(e);
                }
              });
      awaitLockWaitOr(sale);
      assertThat(sale).isNotDone();
      returning.commit();
      sale.join();
    }
    assertThat(draws(campaign)).isZero();
    assertThat(campaign(campaign).getInteger("free")).isEqualTo(1);
    nodes.get(2).confirm(campaign, nodes.get(2).hold(campaign, 2));
    assertDrawnAndVerified(campaign, POSITIONS);
  }

  @Test
  void aReturnWaitsForTheLastSaleAndWhatItDrewUponStaysSold() throws Exception {
    String campaign = triangle();
    List<HoldId> held = nodes.get(0).holdAll(campaign, BASE);
    held.subList(1, held.size()).forEach(hold -> nodes.get(0).confirm(campaign, hold));
    try (Connection selling = begun();
        Connection returning = begun()) {
      nodes.get(0).confirmOn(selling, campaign, held.get(0));
      CompletableFuture<Boolean> back =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return nodes.get(1).returnOn(returning, campaign, held.get(1));
                } catch (SQLException e) {
                  throw new IllegalStateException(e);
                }
              });
      awaitLockWaitOr(back);
      assertThat(back).isNotDone();
      selling.commit();
      assertThat(back.join()).isFalse();
      returning.rollback();
    }
    assertDrawnAndVerified(campaign, POSITIONS);
  }

  @Test
  void aNodeThatDiesBeforeItsCommitHasNeitherSoldNorDrawn() throws Exception {
    String campaign = triangle();
    HoldId last = sellAllBut(1, campaign).get(0);
    try (Connection dying = begun()) {
      nodes.get(0).confirmOn(dying, campaign, last);
      server.database().execute("SELECT pg_terminate_backend(" + NaiveDraw.backend(dying) + ")");
      assertThatThrownBy(dying::commit).isInstanceOf(SQLException.class);
    }
    assertThat(draws(campaign)).isZero();
    assertThat(campaign(campaign).getString("status")).isEqualTo("published");

    nodes.get(1).confirm(campaign, last);
    // The answer was lost, so it is asked for again; nothing happens twice.
    nodes.get(2).confirm(campaign, last);

    assertThat(draws(campaign)).isEqualTo(1);
    assertDrawnAndVerified(campaign, POSITIONS);
  }

  /** The commit of the last sale is cut off, and the node looks up what became of it. */
  @ParameterizedTest
  @EnumSource(CommitFault.Moment.class)
  void aLastSaleWhoseCommitIsCutOffDrawsOnce(CommitFault.Moment moment) throws Exception {
    String campaign = triangle();
    HoldId last = sellAllBut(1, campaign).get(0);
    try (CommitFault fault = CommitFault.on(server.database());
        DrawNode node = new DrawNode(fault.dataSource(), DrawNode.EVERY_SALE, Optional.empty())) {
      fault.arm(moment);
      node.confirm(campaign, last);
      assertThat(fault.fired()).isTrue();
    }
    assertThat(draws(campaign)).isEqualTo(1);
    assertDrawnAndVerified(campaign, POSITIONS);
  }

  @Test
  void aSaleThatCannotBeTheLastAsksTheDatabaseNothing() throws Exception {
    String campaign = triangle();
    List<HoldId> held = nodes.get(0).holdAll(campaign, BASE);
    Connection closed = begun();
    closed.close();
    // The last layer has four positions: the first three of them cannot complete anything.
    for (HoldId hold : held.subList(6, 9)) {
      HoldOutcome outcome;
      try (Connection connection = begun()) {
        outcome = nodes.get(0).sellOn(connection, campaign, hold);
        connection.commit();
      }
      nodes.get(0).draws.afterSales(Exchange.within(closed), List.of(outcome));
    }
    HoldOutcome lastOfLayer;
    try (Connection connection = begun()) {
      lastOfLayer = nodes.get(0).sellOn(connection, campaign, held.get(9));
      connection.commit();
    }
    assertThatThrownBy(
            () -> nodes.get(0).draws.afterSales(Exchange.within(closed), List.of(lastOfLayer)))
        .isInstanceOf(SQLException.class);
  }

  @Test
  void theSeedIsASecretUntilTheDraw() throws Exception {
    String campaign = triangle();
    HoldId last = sellAllBut(1, campaign).get(0);
    JsonObject pending = document(campaign);
    assertThat(pending.getString("status")).isEqualTo("pending");
    assertThat(pending.containsKey("seed")).isFalse();
    assertThat(pending.getJsonArray("entrants")).isEmpty();
    String commitment = pending.getString("commitment");
    assertThat(commitment).isEqualTo(campaign(campaign).getString("seedCommitment"));

    nodes.get(0).confirm(campaign, last);

    assertThat(document(campaign).getString("commitment")).isEqualTo(commitment);
    assertThat(DrawVerifier.verify(document(campaign).encode(), Optional.of(commitment)).ok())
        .isTrue();
  }

  @Test
  void aRefundedPurchaseIsNoEntrant() throws Exception {
    try (DrawNode refunding =
        new DrawNode(
            server.database().dataSource(),
            (connection, id) -> {
              HashMap<HoldId, String> sales =
                  new HashMap<>(DrawNode.EVERY_SALE.purchases(connection, id));
              sales.remove(sales.keySet().iterator().next());
              return sales;
            },
            Optional.empty())) {
      String campaign = triangle();
      refunding.holdAll(campaign, BASE).forEach(hold -> refunding.confirm(campaign, hold));
      assertDrawnAndVerified(campaign, POSITIONS - 1);
    }
  }

  @Test
  void withABeaconTheListIsFrozenFirstAndTheWinnersFollowOnce() throws Exception {
    AtomicBoolean spoken = new AtomicBoolean();
    byte[] value = HexFormat.of().parseHex("ab".repeat(32));
    Beacon beacon = frozenAt -> spoken.get() ? Optional.of(value) : Optional.empty();
    try (DrawNode one = node(Optional.of(beacon));
        DrawNode other = node(Optional.of(beacon))) {
      String campaign = triangle();
      one.holdAll(campaign, BASE).forEach(hold -> one.confirm(campaign, hold));

      one.draws.completeWaiting();
      JsonObject frozen = document(campaign);
      assertThat(frozen.getString("status")).isEqualTo("pending");
      assertThat(frozen.getJsonArray("entrants")).hasSize(POSITIONS);
      assertThat(frozen.containsKey("seed")).isFalse();
      assertThat(campaign(campaign).getString("status")).isEqualTo("soldOut");

      spoken.set(true);
      Race.<Boolean>of(6)
          .run(
              i -> {
                (i % 2 == 0 ? one : other).draws.completeWaiting();
                return true;
              })
          .valuesOrThrow();
      assertThat(document(campaign).getString("status")).isEqualTo("drawn");
      assertThat(document(campaign).getString("beacon")).isEqualTo("ab".repeat(32));
      assertThat(document(campaign).getString("entrantsHash"))
          .isEqualTo(frozen.getString("entrantsHash"));
      assertDrawnAndVerified(campaign, POSITIONS);
    }
  }

  @Test
  void whatWasDrawnCannotBeChanged() throws Exception {
    String campaign = triangle();
    nodes.get(0).holdAll(campaign, BASE).forEach(hold -> nodes.get(0).confirm(campaign, hold));
    for (String change :
        List.of(
            "UPDATE lockstep_server.draw SET winners = '[]' WHERE campaign = ",
            "DELETE FROM lockstep_server.draw WHERE campaign = ")) {
      assertThatThrownBy(() -> server.database().execute(change + campaign))
          .hasStackTraceContaining("append-only");
    }
    server.operator().post("/v1/campaigns/" + campaign + "/close", null).expect(200);
    assertThat(campaign(campaign).getString("status")).isEqualTo("drawn");
  }

  @Test
  void aDropHasNoDraw() throws Exception {
    String drop = server.drop(1, null);
    server.anyone().get("/v1/campaigns/" + drop + "/draw").expectProblem(404, "not-found");
    nodes.get(0).confirm(drop, nodes.get(0).hold(drop, 1));
    assertThat(draws(drop)).isZero();
    assertThat(campaign(drop).getString("status")).isEqualTo("soldOut");
    server.anyone().get("/v1/campaigns/0/draw").expectProblem(404, "not-found");
  }

  private static DrawNode node(Optional<Beacon> beacon) {
    return new DrawNode(server.database().dataSource(), DrawNode.EVERY_SALE, beacon);
  }

  private static String triangle() throws Exception {
    return server.published(
        new JsonObject()
            .put("kind", "triangle")
            .put("name", "A triangle")
            .put("currency", "JPY")
            .put("baseLength", BASE)
            .put("price", 500)
            .put(
                "prizes",
                new JsonArray()
                    .add(new JsonObject().put("name", "Grand prize").put("quantity", 1))
                    .add(new JsonObject().put("name", "Runner-up").put("quantity", 3))));
  }

  /** Sells all positions but the first of so many layers; the holds of those, apex first. */
  private static List<HoldId> sellAllBut(int layers, String campaign) {
    List<HoldId> held = new ArrayList<>(nodes.get(0).holdAll(campaign, BASE));
    List<HoldId> left = layers == 1 ? List.of(held.get(0)) : List.of(held.get(0), held.get(1));
    held.removeAll(left);
    held.forEach(hold -> nodes.get(0).confirm(campaign, hold));
    return left;
  }

  private static Connection begun() throws SQLException {
    Connection connection = server.database().connection();
    connection.setAutoCommit(false);
    return connection;
  }

  private static void awaitLockWaitOr(CompletableFuture<?> ended) throws Exception {
    String waiting =
        "SELECT count(*) FROM pg_stat_activity"
            + " WHERE datname = current_database() AND wait_event_type = 'Lock'";
    Await.until(
        "the second waits for the first, or has ended",
        () -> server.database().queryLong(waiting) > 0 || ended.isDone());
  }

  private static long draws(String campaign) {
    return server
        .database()
        .queryLong("SELECT count(*) FROM lockstep_server.draw WHERE campaign = " + campaign);
  }

  private static JsonObject campaign(String id) throws Exception {
    return server.anyone().get("/v1/campaigns/" + id).expect(200);
  }

  private static JsonObject document(String campaign) throws Exception {
    return server.anyone().get("/v1/campaigns/" + campaign + "/draw").expect(200);
  }

  private static void assertDrawnAndVerified(String campaign, int entrants) throws Exception {
    assertThat(campaign(campaign).getString("status")).isEqualTo("drawn");
    JsonObject document = document(campaign);
    Verdict verdict = DrawVerifier.verify(document.encode(), Optional.empty());
    assertThat(verdict.checks()).isNotEmpty().allMatch(Verdict.Check::ok);
    assertThat(document.getJsonArray("entrants")).hasSize(entrants);
    assertThat(document.getJsonArray("winners")).hasSize(4);
  }
}
