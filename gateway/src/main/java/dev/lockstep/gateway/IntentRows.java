package dev.lockstep.gateway;

import dev.lockstep.gateway.Intent.Failure;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Intents and refunds as rows, and the queries that only read. */
final class IntentRows {
  private static final String INTENT_COLUMNS =
      """
      id, amount, currency, status, payment_method, client_secret, description, metadata, error_code,
      decline_code, cancellation_reason, refunded, created_at, canceled_at""";

  /** In the order of their ids, as every writer locks them. */
  static final String LOCK =
      "SELECT " + INTENT_COLUMNS + " FROM gateway.intent WHERE id = ANY (?) ORDER BY id FOR UPDATE";

  private static final String FIND =
      "SELECT " + INTENT_COLUMNS + " FROM gateway.intent WHERE id = ANY (?)";

  // Ids begin with the time of their creation by the node's clock; the table's times decide.
  private static final String IN_TIME =
      " id < ? AND id >= ? AND created_at >= ? AND created_at < ?";

  /** Newest first. '~' sorts after every id. */
  private static final String PAGE =
      "SELECT "
          + INTENT_COLUMNS
          + " FROM gateway.intent WHERE"
          + IN_TIME
          + " ORDER BY id DESC LIMIT ?";

  private static final String REFUND_COLUMNS =
      "id, intent, amount, currency, reason, metadata, status, created_at";
  private static final String FIND_REFUND =
      "SELECT " + REFUND_COLUMNS + " FROM gateway.refund WHERE id = ?";
  private static final String REFUND_PAGE =
      "SELECT "
          + REFUND_COLUMNS
          + " FROM gateway.refund WHERE"
          + IN_TIME
          + " ORDER BY id DESC LIMIT ?";
  private static final String REFUND_PAGE_OF_INTENT =
      "SELECT "
          + REFUND_COLUMNS
          + " FROM gateway.refund WHERE"
          + IN_TIME
          + " AND intent = ? ORDER BY id DESC LIMIT ?";

  /** Read under the lock of their intents. */
  static final String READ_REFUNDS =
      "SELECT " + REFUND_COLUMNS + " FROM gateway.refund WHERE id = ANY (?)";

  // Scans the intents of two days. Clients rarely search.
  private static final String WITH_METADATA =
      "SELECT "
          + INTENT_COLUMNS
          + " FROM gateway.intent WHERE id >= ? AND metadata::jsonb @> ?::jsonb"
          + " ORDER BY id DESC LIMIT ?";

  private static final String FROM_THE_NEWEST = "~";
  private static final Instant FAR_AWAY = Instant.parse("9999-01-01T00:00:00Z");

  /** The most by which a node's clock may differ from the database's. */
  private static final Duration CLOCKS_DIFFER = Duration.ofHours(1);

  private IntentRows() {}

  static Optional<Intent> find(Connection connection, String id) throws SQLException {
    return RoundTrip.list(connection, FIND, IntentRows::read, SqlArray.texts(List.of(id))).stream()
        .findFirst();
  }

  /** One more than the page has, to know whether there is more. */
  static List<Intent> page(Connection connection, Page page) throws SQLException {
    return RoundTrip.list(
        connection, PAGE, IntentRows::read, inTime("pi_", page, page.limit() + 1));
  }

  static Map<String, Intent> find(Connection connection, Collection<String> ids)
      throws SQLException {
    Map<String, Intent> found = new HashMap<>();
    RoundTrip.list(connection, FIND, IntentRows::read, SqlArray.texts(ids))
        .forEach(intent -> found.put(intent.id(), intent));
    return found;
  }

  /** The newest intents with all of this metadata, and ids from {@code fromId} on. */
  static List<Intent> search(Connection connection, String fromId, JsonObject metadata, int limit)
      throws SQLException {
    return RoundTrip.list(
        connection, WITH_METADATA, IntentRows::read, fromId, metadata.encode(), limit);
  }

  static Optional<Refund> findRefund(Connection connection, String id) throws SQLException {
    return RoundTrip.list(connection, FIND_REFUND, IntentRows::readRefund, id).stream().findFirst();
  }

  /** One more than the page has, to know whether there is more. */
  static List<Refund> refundPage(Connection connection, Optional<String> intent, Page page)
      throws SQLException {
    int limit = page.limit() + 1;
    return intent.isPresent()
        ? RoundTrip.list(
            connection,
            REFUND_PAGE_OF_INTENT,
            IntentRows::readRefund,
            inTime("re_", page, intent.get(), limit))
        : RoundTrip.list(
            connection, REFUND_PAGE, IntentRows::readRefund, inTime("re_", page, limit));
  }

  /** The parameters of {@link #IN_TIME}, and those that follow them. */
  private static Object[] inTime(String prefix, Page page, Object... more) {
    List<Object> all = new ArrayList<>();
    Instant from = page.from().orElse(Instant.EPOCH);
    Instant before = page.before().orElse(FAR_AWAY);
    String after = page.after();
    all.add(after == null ? FROM_THE_NEWEST : after);
    all.add(GatewayIds.since(prefix, from.minus(CLOCKS_DIFFER)));
    all.add(from.atOffset(ZoneOffset.UTC));
    all.add(before.atOffset(ZoneOffset.UTC));
    all.addAll(List.of(more));
    return all.toArray();
  }

  static Intent read(ResultSet row) throws SQLException {
    String errorCode = row.getString("error_code");
    return new Intent(
        row.getString("id"),
        row.getLong("amount"),
        row.getString("currency"),
        IntentStatus.of(row.getInt("status")),
        row.getString("payment_method"),
        row.getString("client_secret"),
        row.getString("description"),
        new JsonObject(row.getString("metadata")),
        errorCode == null ? null : new Failure(errorCode, row.getString("decline_code")),
        row.getString("cancellation_reason"),
        row.getLong("refunded"),
        row.getObject("created_at", OffsetDateTime.class).toInstant(),
        instant(row.getObject("canceled_at", OffsetDateTime.class)));
  }

  static @Nullable String errorCode(Intent intent) {
    Failure failure = intent.failure();
    return failure == null ? null : failure.code();
  }

  static @Nullable String declineCode(Intent intent) {
    Failure failure = intent.failure();
    return failure == null ? null : failure.declineCode();
  }

  static Refund readRefund(ResultSet row) throws SQLException {
    return new Refund(
        row.getString("id"),
        row.getString("intent"),
        row.getLong("amount"),
        row.getString("currency"),
        row.getString("reason"),
        new JsonObject(row.getString("metadata")),
        RefundStatus.of(row.getInt("status")),
        row.getObject("created_at", OffsetDateTime.class).toInstant());
  }

  private static @Nullable Instant instant(@Nullable OffsetDateTime at) {
    return at == null ? null : at.toInstant();
  }
}
