package dev.lockstep.server.purchase;

import static io.vertx.core.http.HttpMethod.GET;

import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.cart.CartView;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stores mismatches and shows them to operators. Thread-safe. */
final class Mismatches {
  private static final Logger log = LoggerFactory.getLogger(Mismatches.class);
  private static final int MAX_SHOWN = 100;

  // The provider repeats itself; the first report counts.
  private static final String NOTE =
      """
      INSERT INTO lockstep_server.payment_mismatch
        (campaign, purchase, intent, kind, amount, currency, event, detail, noted_at)
      VALUES (?, ?, ?, ?, ?, ?, nullif(?, ''), ?, now())
      ON CONFLICT (campaign, purchase, intent, kind) DO NOTHING""";

  private static final String COLUMNS =
      "SELECT id, campaign, purchase, intent, kind, amount, currency, event, detail, noted_at"
          + " FROM lockstep_server.payment_mismatch";

  private static final String PAGE = COLUMNS + " WHERE id < ? ORDER BY id DESC LIMIT ?";

  private static final String OF_PURCHASE =
      COLUMNS + " WHERE campaign = ? AND purchase = ? ORDER BY id LIMIT ?";

  static final ObjectShape SHAPE =
      Shape.object()
          .required("id", Shape.text(1, 32))
          .required("campaign", Shape.text(1, 32))
          .required("purchase", Shape.text(1, 64))
          .required("payment", Shape.text(1, 255))
          .required(
              "kind",
              Shape.choice(
                  Arrays.stream(Mismatch.Kind.values())
                      .map(Mismatch.Kind::label)
                      .toArray(String[]::new)))
          .required("money", CartView.MONEY)
          .required("event", Shape.nullable(Shape.text(1, 255)))
          .required("detail", Shape.text(1, 1_000))
          .required("notedAt", Shape.time());

  private final Transactor transactor;
  private final Workers workers;
  private final SaleListener listener;

  Mismatches(Transactor transactor, Workers workers, SaleListener listener) {
    this.transactor = transactor;
    this.workers = workers;
    this.listener = listener;
  }

  Endpoint endpoint() {
    return Endpoint.of(
            GET,
            "/v1/payments/mismatches",
            "Lists payments that disagree with their purchases, newest first.")
        .by(Role.OPERATOR)
        .paged(SHAPE)
        .handledBy(this::list);
  }

  /** Stores it. Completes after the commit; true if it is new. */
  CompletionStage<Boolean> note(Mismatch mismatch) {
    return workers
        .run(
            () -> {
              boolean isNew = write(mismatch);
              if (isNew) {
                log.error(
                    "Payment {} does not agree with purchase {} ({}): {}",
                    mismatch.intent(),
                    mismatch.purchase(),
                    mismatch.kind().label(),
                    mismatch.detail());
                listener.mismatched(mismatch.kind().label());
              }
              return isNew;
            })
        .toCompletionStage();
  }

  /** The mismatches of a purchase, oldest first. Blocks. */
  JsonArray of(PurchaseId purchase) {
    return new JsonArray(query(OF_PURCHASE, purchase.campaign(), purchase.value(), MAX_SHOWN));
  }

  private boolean write(Mismatch mismatch) {
    return transactor.call(
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          Rows<?> written =
              trip.update(
                  NOTE,
                  mismatch.purchase().campaign(),
                  mismatch.purchase().value(),
                  mismatch.intent().value(),
                  mismatch.kind().label(),
                  mismatch.money().amount(),
                  mismatch.money().currency(),
                  mismatch.event().orElse(""),
                  mismatch.detail());
          trip.send();
          return written.changed() > 0;
        });
  }

  private Future<Answer> list(Request request) {
    Page page = request.page();
    long before = page.afterNumber(Long.MAX_VALUE);
    return workers.read(
        request,
        () ->
            Answer.ok(
                page.of(
                    query(PAGE, before, page.limit() + 1),
                    one -> one,
                    one -> one.getString("id"))));
  }

  private List<JsonObject> query(String sql, Object... parameters) {
    return transactor.call(
        connection -> RoundTrip.list(connection, sql, Mismatches::read, parameters));
  }

  private static JsonObject read(ResultSet row) throws SQLException {
    long campaign = row.getLong("campaign");
    return new JsonObject()
        .put("id", row.getString("id"))
        .put("campaign", String.valueOf(campaign))
        .put("purchase", new PurchaseId(campaign, row.getObject("purchase", UUID.class)).toString())
        .put("payment", row.getString("intent"))
        .put("kind", row.getString("kind"))
        .put("money", CartView.money(row.getLong("amount"), row.getString("currency")))
        .put("event", row.getString("event"))
        .put("detail", row.getString("detail"))
        .put("notedAt", row.getObject("noted_at", OffsetDateTime.class).toInstant().toString());
  }
}
