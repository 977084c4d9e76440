package dev.lockstep.server.reconciliation;

import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Shape;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

/** The known disagreements as JSON. */
final class ReportView {
  private static final int MAX_SHOWN = 1_000;
  private static final long ANY = Long.MAX_VALUE;

  private static final ObjectShape ENTRY =
      Shape.object()
          .required("kind", Shape.text(1, 64))
          .required("campaign", Shape.text(1, 32))
          .required("purchase", Shape.nullable(Shape.text(1, 64)))
          .required("hold", Shape.nullable(Shape.text(1, 64)))
          .required("buyer", Shape.text(0, 200))
          .required("payment", Shape.nullable(Shape.text(1, 255)))
          .required("amount", Shape.integer(0, ANY))
          .required("currency", Shape.text(0, 3))
          .required("since", Shape.time())
          .required("detail", Shape.text(1, 500));

  private static final Shape ENTRIES = Shape.list(ENTRY, 0, MAX_SHOWN);

  static final Shape SHAPE =
      Shape.object()
          .required("ok", Shape.bool())
          .required("checkedAt", Shape.nullable(Shape.time()))
          .required("moneyWithoutGoods", ENTRIES)
          .required("goodsWithoutMoney", ENTRIES)
          .required("unsettled", ENTRIES)
          .required("books", ENTRIES)
          .required("provider", ENTRIES)
          .required("kinds", kinds())
          .required(
              "sweep",
              Shape.object()
                  .required("startedAt", Shape.nullable(Shape.time()))
                  .required("purchases", Shape.integer(0, ANY))
                  .required("holds", Shape.integer(0, ANY))
                  .required("lastAt", Shape.nullable(Shape.time()))
                  .required("lastPurchases", Shape.integer(0, ANY))
                  .required("lastHolds", Shape.integer(0, ANY)))
          .required("providerComparedUntil", Shape.nullable(Shape.time()))
          .required("foreignCharges", Shape.integer(0, ANY));

  private ReportView() {}

  private static ObjectShape kinds() {
    ObjectShape kinds = Shape.object();
    for (FindingKind kind : FindingKind.values()) {
      kinds = kinds.required(kind.label(), Shape.integer(0, ANY));
    }
    return kinds;
  }

  /**
   * @param state of the duty that looks
   * @param provider of the duty that compares with the provider
   */
  static JsonObject read(
      Connection connection, Map<FindingKind, Long> counts, JsonObject state, JsonObject provider)
      throws SQLException {
    JsonObject report =
        new JsonObject().put("ok", counts.isEmpty()).put("checkedAt", state.getString("checkedAt"));
    for (FindingKind.Group group : FindingKind.Group.values()) {
      JsonArray entries = new JsonArray();
      if (counts.keySet().stream().anyMatch(kind -> kind.group() == group)) {
        FindingTable.list(connection, group, MAX_SHOWN).forEach(one -> entries.add(json(one)));
      }
      report.put(group.label(), entries);
    }
    JsonObject kinds = new JsonObject();
    for (FindingKind kind : FindingKind.values()) {
      kinds.put(kind.label(), counts.getOrDefault(kind, 0L));
    }
    JsonObject sweep = Sweep.of(state.getJsonObject("sweep", new JsonObject())).json();
    JsonObject shown = new JsonObject();
    for (String field :
        new String[] {"startedAt", "purchases", "holds", "lastAt", "lastPurchases", "lastHolds"}) {
      shown.put(field, sweep.getValue(field));
    }
    return report
        .put("kinds", kinds)
        .put("sweep", shown)
        .put("providerComparedUntil", provider.getString("until"))
        .put(
            "foreignCharges",
            provider.getJsonObject("charges", new JsonObject()).getLong("foreign", 0L));
  }

  private static JsonObject json(Finding finding) {
    return new JsonObject()
        .put("kind", finding.kind().label())
        .put("campaign", String.valueOf(finding.campaign()))
        .put("purchase", finding.purchase())
        .put("hold", finding.hold())
        .put("buyer", finding.buyer())
        .put("payment", finding.payment())
        .put("amount", finding.amount())
        .put("currency", finding.currency())
        .put("since", finding.since().toString())
        .put("detail", finding.detail());
  }
}
