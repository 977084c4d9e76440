package dev.lockstep.server.purchase;

import static dev.lockstep.sql.SqlArray.column;

import dev.lockstep.hold.HoldId;
import dev.lockstep.server.payment.IntentId;
import dev.lockstep.server.payment.Money;
import dev.lockstep.server.purchase.Purchase.Payment;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.IndexLookups;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StoredEnum;
import io.vertx.core.json.JsonArray;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The table of purchases. Uses the caller's connection, in bulk wherever it is hot. */
final class PurchaseTable {
  static final String COLUMNS =
      "p.campaign, p.id, p.hold, p.buyer, p.status, p.amount, p.currency, p.items,"
          + " p.payment_method, p.intent, p.client_secret, p.failure, p.paid_at, p.expiring,"
          + " p.looks, p.created_at, p.deadline, p.answer, p.try_no, p.tried_at, p.failed_tries,"
          + " p.given_back";

  private static final String INSERT =
      StoredEnum.sql(
          """
      INSERT INTO lockstep_server.purchase (campaign, id, hold, buyer, status, amount, currency, items,
        payment_method, created_by, created_at, changed_at, deadline, due_at)
      SELECT ?, x.id, x.id, x.buyer, {PurchaseStatus.PENDING}, x.amount, ?, x.items,
        x.payment_method, x.created_by,
        now(), now(), now() + ? * interval '1 millisecond',
        now() + least(?, ?) * interval '1 millisecond'
      FROM unnest(?, ?, ?, ?, ?, ?) AS x (id, buyer, amount, items, payment_method, created_by)""",
          PurchaseStatus.class);

  private static final String FIND =
      "SELECT "
          + COLUMNS
          + " FROM lockstep_server.purchase p WHERE p.campaign = ? AND p.id = ANY (?)";

  // The guards (expected status, hold and try) fail only if this step, or another one, was taken
  // before; then there is nothing to do. Money counts whichever try brought it.
  private static final String CHANGE =
      StoredEnum.sql(
          """
      UPDATE lockstep_server.purchase p
      SET status = x.status, hold = x.hold, items = coalesce(x.items, p.items),
        intent = coalesce(x.intent, p.intent), client_secret = coalesce(x.secret, p.client_secret),
        failure = x.failure, changed_at = now(),
        answer = CASE WHEN p.try_no = 1 THEN coalesce(p.answer, x.answer) ELSE p.answer END,
        try_answers = CASE WHEN p.try_no > 1 AND x.answer IS NOT NULL
          THEN jsonb_build_object(p.try_no::text, x.answer) || p.try_answers
          ELSE p.try_answers END,
        failed_tries = coalesce(x.failed_tries, p.failed_tries),
        given_back = coalesce(x.given_back, p.given_back),
        paid_at = CASE WHEN x.paid THEN coalesce(p.paid_at, now()) ELSE p.paid_at END,
        deadline = x.deadline::timestamptz,
        due_at = CASE
          WHEN x.status IN ({PurchaseStatus.PENDING}, {PurchaseStatus.REQUIRES_ACTION}, {PurchaseStatus.REFUNDING})
          THEN now() + ? * interval '1 millisecond'
          WHEN x.status = {PurchaseStatus.REQUIRES_PAYMENT_METHOD} THEN x.deadline::timestamptz
          ELSE p.due_at END
      FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        AS x (id, held, wanted, status, hold, items, intent, secret, failure, answer, paid, deadline,
          try_no, failed_tries, given_back, part)
      WHERE p.campaign = ? AND p.id = x.id AND p.id = ANY (?) AND p.hold = x.held
        AND (1 << p.status) & x.wanted <> 0
        AND (x.paid OR (p.paid_at IS NULL AND p.try_no = x.try_no))
        AND (x.part IS NULL OR p.given_back = x.part)
      RETURNING p.id""",
          PurchaseStatus.class);

  // Every hold that a purchase owns: its first one, and its current one.
  private static final String OF_HOLDS =
      FIND
          + " UNION ALL SELECT "
          + COLUMNS
          + " FROM lockstep_server.purchase p"
          + " WHERE p.campaign = ? AND p.hold = ANY (?) AND p.hold <> p.id";

  private static final String PAYING_FOR =
      StoredEnum.sql(
          """
      SELECT id FROM lockstep_server.purchase
      WHERE campaign = ? AND id = ANY (?)
        AND status IN ({PurchaseStatus.PENDING}, {PurchaseStatus.REQUIRES_ACTION}, {PurchaseStatus.REQUIRES_PAYMENT_METHOD})
      UNION ALL
      SELECT hold FROM lockstep_server.purchase
      WHERE campaign = ? AND hold = ANY (?) AND hold <> id
        AND status IN ({PurchaseStatus.PENDING}, {PurchaseStatus.REQUIRES_ACTION}, {PurchaseStatus.REQUIRES_PAYMENT_METHOD})""",
          PurchaseStatus.class);

  private static final String PAYABLE_UNTIL =
      StoredEnum.sql(
          """
      SELECT deadline FROM lockstep_server.purchase
      WHERE campaign = ? AND id = ?
        AND status IN ({PurchaseStatus.PENDING}, {PurchaseStatus.REQUIRES_ACTION}, {PurchaseStatus.REQUIRES_PAYMENT_METHOD})
        AND paid_at IS NULL""",
          PurchaseStatus.class);

  private static final String KNOW =
      StoredEnum.sql(
          """
      UPDATE lockstep_server.purchase SET intent = ?
      WHERE campaign = ? AND id = ? AND intent IS NULL
        AND status IN ({PurchaseStatus.PENDING}, {PurchaseStatus.REQUIRES_ACTION})""",
          PurchaseStatus.class);

  private static final String COMPLETED =
      StoredEnum.sql(
          """
          SELECT hold, id FROM lockstep_server.purchase
          WHERE campaign = ? AND (status = {PurchaseStatus.COMPLETED}
            OR (status = {PurchaseStatus.REFUNDING} AND given_back::json -> 'part' IS NOT NULL))""",
          PurchaseStatus.class);

  private static final String RECORD_EVENTS =
      """
      INSERT INTO lockstep_server.payment_event (campaign, event, received_at)
      SELECT ?, x.event, now() FROM unnest(?) AS x (event)
      ON CONFLICT (campaign, event) DO NOTHING""";

  /** Up to this many rows, any plan for joining them with their new values is fast. */
  private static final int FEW = 4;

  private PurchaseTable() {}

  /** Inserts new purchases of one campaign; the database's clock sets their times. */
  static void addInsert(
      RoundTrip trip,
      long campaign,
      List<Purchase> fresh,
      Map<PurchaseId, String> createdBy,
      Duration payWithin,
      Duration lookAfter) {
    trip.update(
        INSERT,
        campaign,
        fresh.get(0).total().currency(),
        payWithin.toMillis(),
        payWithin.toMillis(),
        lookAfter.toMillis(),
        SqlArray.uuids(column(fresh, p -> p.id().value())),
        SqlArray.texts(column(fresh, Purchase::buyer)),
        SqlArray.bigints(column(fresh, p -> p.total().amount())),
        SqlArray.texts(column(fresh, p -> p.items().encode())),
        SqlArray.texts(column(fresh, p -> p.payment().method())),
        SqlArray.texts(column(fresh, p -> createdBy.get(p.id()))));
  }

  static Rows<Purchase> addFind(RoundTrip trip, long campaign, Collection<UUID> ids) {
    return trip.query(FIND, PurchaseTable::read, campaign, SqlArray.uuids(ids));
  }

  static Map<UUID, Purchase> find(Connection connection, long campaign, Collection<UUID> ids)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Purchase> rows = addFind(trip, campaign, ids);
    trip.send();
    Map<UUID, Purchase> found = new HashMap<>();
    rows.list().forEach(purchase -> found.put(purchase.id().value(), purchase));
    return found;
  }

  static Optional<Purchase> find(Connection connection, PurchaseId id) throws SQLException {
    return Optional.ofNullable(
        find(connection, id.campaign(), List.of(id.value())).get(id.value()));
  }

  /**
   * Takes steps of purchases of one campaign, one step each. The caller has locked their holds, or
   * the step needs none. A taken step uses up its event.
   *
   * @param lookAfter when the timer looks at unfinished ones
   * @return the purchases whose step was taken here; the others had moved on
   */
  static Set<UUID> change(
      Exchange exchange, long campaign, List<Change> changes, Duration lookAfter)
      throws SQLException {
    RoundTrip trip = exchange.trip();
    boolean many = changes.size() > FEW;
    if (many) {
      IndexLookups.joinByHash(trip, true);
    }
    Rows<UUID> rows =
        trip.query(
            CHANGE,
            row -> row.getObject(1, UUID.class),
            lookAfter.toMillis(),
            SqlArray.uuids(column(changes, c -> c.before().id().value())),
            SqlArray.uuids(column(changes, c -> c.before().hold().value())),
            SqlArray.integers(column(changes, c -> PurchaseStatus.mask(c.from()))),
            SqlArray.smallints(column(changes, c -> c.after().status().code())),
            SqlArray.uuids(column(changes, c -> c.after().hold().value())),
            SqlArray.texts(column(changes, PurchaseTable::changedItems)),
            SqlArray.texts(column(changes, c -> intent(c.after()))),
            SqlArray.texts(column(changes, c -> c.after().payment().clientSecret().orElse(null))),
            SqlArray.texts(column(changes, c -> c.after().failure().orElse(null))),
            SqlArray.texts(column(changes, Change::answer)),
            new SqlArray("bool", column(changes, c -> c.after().paid()).toArray(Boolean[]::new)),
            SqlArray.texts(column(changes, c -> c.after().deadline().toString())),
            SqlArray.integers(column(changes, c -> c.before().tries().number())),
            SqlArray.texts(column(changes, PurchaseTable::failedTries)),
            SqlArray.texts(column(changes, PurchaseTable::partialRefunds)),
            SqlArray.texts(column(changes, PurchaseTable::partInProgress)),
            campaign,
            SqlArray.uuids(column(changes, c -> c.before().id().value())));
    if (many) {
      IndexLookups.joinByHash(trip, false);
    }
    trip.send();
    Set<UUID> taken = new HashSet<>(rows.list());
    List<String> used =
        changes.stream()
            .filter(change -> taken.contains(change.before().id().value()))
            .flatMap(change -> change.event().stream())
            .toList();
    if (!used.isEmpty()) {
      RoundTrip later = exchange.trip();
      later.update(RECORD_EVENTS, campaign, SqlArray.texts(used));
      exchange.defer(later);
    }
    return taken;
  }

  /** Records which payment is a purchase's own, while its outcome is unknown. */
  static void know(Connection connection, Purchase purchase, IntentId intent) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(KNOW, intent.value(), purchase.id().campaign(), purchase.id().value());
    trip.send();
  }

  /**
   * Finds purchases by their own ids and by those of their holds.
   *
   * @param ids of purchases or holds
   */
  static Map<UUID, Purchase> findWithHolds(
      Connection connection, long campaign, Collection<UUID> ids) throws SQLException {
    SqlArray some = SqlArray.uuids(ids);
    RoundTrip trip = new RoundTrip(connection);
    Rows<Purchase> rows = trip.query(OF_HOLDS, PurchaseTable::read, campaign, some, campaign, some);
    trip.send();
    Map<UUID, Purchase> found = new HashMap<>();
    for (Purchase purchase : rows.list()) {
      found.put(purchase.id().value(), purchase);
      found.put(purchase.hold().value(), purchase);
    }
    return found;
  }

  /** The holds among these whose purchase is being paid. */
  static Set<HoldId> payingFor(Connection connection, long campaign, Collection<UUID> holds)
      throws SQLException {
    SqlArray some = SqlArray.uuids(holds);
    RoundTrip trip = new RoundTrip(connection);
    Rows<HoldId> rows =
        trip.query(
            PAYING_FOR,
            row -> new HoldId(row.getObject(1, UUID.class)),
            campaign,
            some,
            campaign,
            some);
    trip.send();
    return new HashSet<>(rows.list());
  }

  /** The deadline of the unpaid, open purchase that began with a hold. */
  static Optional<Instant> payableUntil(Connection connection, long campaign, HoldId hold)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Instant> rows =
        trip.query(PAYABLE_UNTIL, row -> instant(row, "deadline"), campaign, hold.value());
    trip.send();
    return rows.list().stream().findFirst();
  }

  static Map<HoldId, String> completed(Connection connection, long campaign) throws SQLException {
    Map<HoldId, String> byHold = new HashMap<>();
    RoundTrip trip = new RoundTrip(connection);
    trip.query(
        COMPLETED,
        row ->
            byHold.put(
                new HoldId(row.getObject(1, UUID.class)),
                new PurchaseId(campaign, row.getObject(2, UUID.class)).toString()),
        campaign);
    trip.send();
    return byHold;
  }

  /** Reads a row of {@link #COLUMNS}. */
  static Purchase read(ResultSet row) throws SQLException {
    return new Purchase(
        new PurchaseId(row.getLong("campaign"), row.getObject("id", UUID.class)),
        new HoldId(row.getObject("hold", UUID.class)),
        row.getString("buyer"),
        PurchaseStatus.of(row.getInt("status")),
        new Money(row.getLong("amount"), row.getString("currency")),
        new JsonArray(row.getString("items")),
        new Payment(
            row.getString("payment_method"),
            Optional.ofNullable(row.getString("intent")).map(IntentId::new),
            Optional.ofNullable(row.getString("client_secret"))),
        Optional.ofNullable(row.getString("failure")),
        row.getObject("paid_at") != null,
        row.getBoolean("expiring"),
        row.getInt("looks"),
        instant(row, "created_at"),
        instant(row, "deadline"),
        Optional.ofNullable(row.getString("answer")),
        tries(row),
        PartialRefunds.parse(row.getString("given_back")));
  }

  private static @Nullable String changedItems(Change change) {
    return change.after().items().equals(change.before().items())
        ? null
        : change.after().items().encode();
  }

  private static @Nullable String failedTries(Change change) {
    JsonArray failed = change.after().tries().failed();
    return failed.size() == change.before().tries().failed().size() ? null : failed.encode();
  }

  private static @Nullable String partialRefunds(Change change) {
    PartialRefunds after = change.after().partialRefunds();
    return after.equals(change.before().partialRefunds()) ? null : after.text();
  }

  /** The end of a part ends this part only: another may have begun since. */
  private static @Nullable String partInProgress(Change change) {
    PartialRefunds before = change.before().partialRefunds();
    return before.part().isPresent() ? before.text() : null;
  }

  private static Tries tries(ResultSet row) throws SQLException {
    int number = row.getInt("try_no");
    String failed = row.getString("failed_tries");
    OffsetDateTime since = row.getObject("tried_at", OffsetDateTime.class);
    return failed == null && since == null && number == 1
        ? Tries.FIRST
        : new Tries(
            number,
            Optional.ofNullable(since).map(OffsetDateTime::toInstant),
            failed == null ? new JsonArray() : new JsonArray(failed));
  }

  private static @Nullable String intent(Purchase purchase) {
    return purchase.payment().intent().map(IntentId::value).orElse(null);
  }

  private static Instant instant(ResultSet row, String column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant();
  }
}
