package dev.lockstep.server.purchase;

import static io.vertx.core.http.HttpMethod.GET;

import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.Workers;
import dev.lockstep.tx.Isolation;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;

/**
 * Compares money with goods, in one snapshot: what was paid and not delivered, what was delivered
 * and not paid, and what the provider has left unanswered past its time.
 */
final class Reconciliation {
  private static final int MAX_SHOWN = 1_000;

  // Paid, and neither sold nor given back; or completed, and the hold says otherwise.
  private static final String MONEY_WITHOUT_GOODS =
      """
      SELECT p.campaign, p.id, p.hold, p.buyer, p.amount, p.currency, p.intent, p.paid_at,
        CASE WHEN p.status = 2 THEN 'the hold is not sold'
             WHEN p.status = 5 THEN 'the refund is not done'
             ELSE 'paid late' END
      FROM lockstep_server.purchase p
      LEFT JOIN lockstep.hold h ON h.scope = p.campaign AND h.hold = p.hold
      WHERE p.paid_at IS NOT NULL
        AND (p.status IN (0, 1, 3, 4, 5) OR (p.status = 2 AND h.state IS DISTINCT FROM 1))
      ORDER BY p.paid_at LIMIT ?""";

  // Sold, and no purchase that was paid says so. Refunded ones were paid; their goods stay sold
  // where a draw rests on them.
  private static final String GOODS_WITHOUT_MONEY =
      """
      SELECT h.scope, h.hold, h.hold, h.buyer, 0, '', NULL, h.ended_at, 'no paid purchase'
      FROM lockstep.hold h
      WHERE h.state = 1
        AND NOT EXISTS (SELECT 1 FROM lockstep_server.purchase p
          WHERE p.campaign = h.scope AND p.id = h.hold AND p.hold = h.hold
            AND p.status IN (2, 5, 6) AND p.paid_at IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM lockstep_server.purchase p
          WHERE p.campaign = h.scope AND p.hold = h.hold AND p.hold <> p.id
            AND p.status IN (2, 5, 6) AND p.paid_at IS NOT NULL)
      ORDER BY h.ended_at LIMIT ?""";

  // Nobody knows whether these were paid; their goods are kept until somebody does.
  private static final String UNSETTLED =
      """
      SELECT p.campaign, p.id, p.hold, p.buyer, p.amount, p.currency, p.intent, p.deadline,
        'the provider has not said how it ended'
      FROM lockstep_server.purchase p
      WHERE p.status IN (0, 1) AND p.paid_at IS NULL AND p.deadline <= now() - interval '1 minute'
      ORDER BY p.deadline LIMIT ?""";

  private static final ObjectShape ENTRY =
      Shape.object()
          .required("campaign", Shape.text(1, 32))
          .required("purchase", Shape.nullable(Shape.text(1, 64)))
          .required("hold", Shape.text(1, 64))
          .required("buyer", Shape.text(1, 200))
          .required("payment", Shape.nullable(Shape.text(1, 255)))
          .required("amount", Shape.integer(0, Long.MAX_VALUE))
          .required("currency", Shape.text(0, 3))
          .required("since", Shape.time())
          .required("detail", Shape.text(1, 200));

  private static final Shape REPORT =
      Shape.object()
          .required("ok", Shape.bool())
          .required("checkedAt", Shape.time())
          .required("moneyWithoutGoods", Shape.list(ENTRY, 0, MAX_SHOWN))
          .required("goodsWithoutMoney", Shape.list(ENTRY, 0, MAX_SHOWN))
          .required("unsettled", Shape.list(ENTRY, 0, MAX_SHOWN));

  private final Transactor transactor;
  private final Workers workers;

  Reconciliation(Transactor transactor, Workers workers) {
    this.transactor = transactor;
    this.workers = workers;
  }

  Endpoint endpoint() {
    return Endpoint.of(GET, "/v1/reconciliation", "Lists money without goods, and goods without.")
        .by(Role.OPERATOR)
        .answering(200, REPORT)
        .handledBy(request -> report());
  }

  private Future<Answer> report() {
    return workers
        .run(
            () ->
                transactor.call(
                    transactor
                        .defaults()
                        .withLabel("reconciliation")
                        .withIsolation(Isolation.REPEATABLE_READ)
                        .asReadOnly(),
                    Reconciliation::read))
        .map(Answer::ok);
  }

  private static JsonObject read(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<String> now = trip.query("SELECT now()", row -> time(row, 1));
    Rows<JsonObject> money = trip.query(MONEY_WITHOUT_GOODS, row -> entry(row, true), MAX_SHOWN);
    Rows<JsonObject> goods = trip.query(GOODS_WITHOUT_MONEY, row -> entry(row, false), MAX_SHOWN);
    Rows<JsonObject> unsettled = trip.query(UNSETTLED, row -> entry(row, true), MAX_SHOWN);
    trip.send();
    return new JsonObject()
        .put("ok", money.list().isEmpty() && goods.list().isEmpty() && unsettled.list().isEmpty())
        .put("checkedAt", now.list().get(0))
        .put("moneyWithoutGoods", new JsonArray(money.list()))
        .put("goodsWithoutMoney", new JsonArray(goods.list()))
        .put("unsettled", new JsonArray(unsettled.list()));
  }

  private static JsonObject entry(ResultSet row, boolean ofPurchase) throws SQLException {
    String campaign = row.getString(1);
    return new JsonObject()
        .put("campaign", campaign)
        .put("purchase", ofPurchase ? campaign + "." + row.getString(2) : null)
        .put("hold", campaign + "." + row.getString(3))
        .put("buyer", row.getString(4))
        .put("payment", row.getString(7))
        .put("amount", row.getLong(5))
        .put("currency", row.getString(6))
        .put("since", time(row, 8))
        .put("detail", row.getString(9));
  }

  private static String time(ResultSet row, int column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant().toString();
  }
}
