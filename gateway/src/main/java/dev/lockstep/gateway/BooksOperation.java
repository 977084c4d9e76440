package dev.lockstep.gateway;

import dev.lockstep.combine.Combined;
import dev.lockstep.combine.Trace;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.gateway.Books.Stored;
import dev.lockstep.gateway.Command.SettleRefund;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StoredEnum;
import java.sql.Connection;
import java.sql.PreparedStatement;
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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Combines requests into one write: one round trip to lock and read, one to write, for any number
 * of them. All share one combiner key, because commits are what limits the gateway.
 */
final class BooksOperation implements Combined<String, GatewayRequest, Books, Plan, Answer> {
  static final String KEY = "books";

  // Answers are never changed, so they need no lock. If another node is writing the same key, our
  // insert notices.
  private static final String READ_ANSWERS =
      "SELECT key, request, fingerprint, status, body FROM gateway.answer WHERE key = ANY (?)";

  private static final String INSERT_INTENTS =
      """
      INSERT INTO gateway.intent (id, amount, currency, status, payment_method, client_secret,
        description, metadata, error_code, decline_code, created_at)
      SELECT x.*, ? FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) AS x""";

  // The row is locked, so the guard never fails; it states which moves are allowed.
  private static final String UPDATE_INTENTS =
      StoredEnum.sql(
          """
      UPDATE gateway.intent i
      SET status = x.status, payment_method = x.payment_method, error_code = x.error_code,
        decline_code = x.decline_code, cancellation_reason = x.cancellation_reason,
        refunded = x.refunded,
        canceled_at = CASE WHEN x.status = {IntentStatus.CANCELED} THEN ?::timestamptz END
      FROM unnest(?, ?, ?, ?, ?, ?, ?)
        AS x (id, status, payment_method, error_code, decline_code, cancellation_reason, refunded)
      WHERE i.id = x.id
        AND (i.status NOT IN ({IntentStatus.SUCCEEDED}, {IntentStatus.CANCELED}) OR i.status = x.status)""",
          IntentStatus.class);

  private static final String INSERT_REFUNDS =
      """
      INSERT INTO gateway.refund
        (id, intent, amount, currency, reason, metadata, status, created_at)
      SELECT x.*, ? FROM unnest(?, ?, ?, ?, ?, ?, ?) AS x""";

  private static final String UPDATE_REFUNDS =
      """
      UPDATE gateway.refund r SET status = x.status FROM unnest(?, ?) AS x (id, status)
      WHERE r.id = x.id""";

  private static final String INSERT_ANSWERS =
      """
      INSERT INTO gateway.answer (key, request, fingerprint, status, body, created_at)
      SELECT x.*, ? FROM unnest(?, ?, ?, ?, ?) AS x
      ON CONFLICT (key) DO NOTHING""";

  private static final String INSERT_WEBHOOKS =
      """
      INSERT INTO gateway.webhook (event, type, body, answer, due_at)
      SELECT x.event, x.type, x.body, x.answer, ?::timestamptz + x.due_ms * interval '1 millisecond'
      FROM unnest(?, ?, ?, ?, ?) AS x (event, type, body, answer, due_ms)""";

  private static final String WAS_ANSWERED =
      "SELECT 1 FROM gateway.answer WHERE key = ? AND request = ?";

  private final Optional<Duration> takeOverAfter;

  /**
   * @param takeOverAfter after this, other nodes send an event that its writer did not; empty: no
   *     events
   */
  BooksOperation(Optional<Duration> takeOverAfter) {
    this.takeOverAfter = takeOverAfter;
  }

  @Override
  public Books lock(Exchange exchange, String key, List<GatewayRequest> requests)
      throws SQLException {
    List<String> keys = requests.stream().map(GatewayRequest::key).distinct().toList();
    List<String> ids =
        requests.stream()
            .map(GatewayRequest::command)
            .filter(command -> !(command instanceof Command.Create))
            .map(Command::intent)
            .distinct()
            .toList();
    RoundTrip trip = exchange.trip();
    Rows<Instant> now = trip.now();
    Rows<Stored> answers =
        trip.query(READ_ANSWERS, BooksOperation::readStored, SqlArray.texts(keys));
    Rows<Intent> intents =
        ids.isEmpty() ? null : trip.query(IntentRows.LOCK, IntentRows::read, SqlArray.texts(ids));
    List<String> refundIds =
        requests.stream()
            .map(GatewayRequest::command)
            .filter(SettleRefund.class::isInstance)
            .map(command -> ((SettleRefund) command).refund())
            .distinct()
            .toList();
    Rows<Refund> refunds =
        refundIds.isEmpty()
            ? null
            : trip.query(
                IntentRows.READ_REFUNDS, IntentRows::readRefund, SqlArray.texts(refundIds));
    trip.send();

    Map<String, Intent> byId = new HashMap<>();
    if (intents != null) {
      intents.list().forEach(intent -> byId.put(intent.id(), intent));
    }
    Map<String, Stored> byKey = new HashMap<>();
    answers.list().forEach(stored -> byKey.put(stored.key(), stored));
    Map<String, Refund> refundsById = new HashMap<>();
    if (refunds != null) {
      refunds.list().forEach(refund -> refundsById.put(refund.id(), refund));
    }
    return new Books(now.list().get(0), byId, refundsById, byKey);
  }

  @Override
  public Plan decide(String key, Books books, List<GatewayRequest> requests) {
    return Decision.decide(books, requests, takeOverAfter.isPresent());
  }

  @Override
  public Plan write(Exchange exchange, String key, Plan plan) throws SQLException {
    OffsetDateTime now = plan.now().atOffset(ZoneOffset.UTC);
    RoundTrip trip = new RoundTrip(exchange.connection());
    Rows<?> stored = plan.stored().isEmpty() ? null : storeAnswers(trip, now, plan);
    if (!plan.created().isEmpty()) {
      insertIntents(trip, now, plan.created());
    }
    Rows<?> changed =
        plan.changed().isEmpty() ? null : updateIntents(trip, now, plan.changed().values());
    if (!plan.refunds().isEmpty()) {
      insertRefunds(trip, now, plan.refunds());
    }
    if (!plan.settled().isEmpty()) {
      updateRefunds(trip, plan.settled().values());
    }
    if (!plan.events().isEmpty()) {
      insertWebhooks(trip, now, plan.events());
    }
    trip.send();
    require(stored, plan.stored().size());
    require(changed, plan.changed().size());
    return plan;
  }

  @Override
  public List<AttemptResult<Answer>> answers(Plan plan) {
    return AttemptResult.conditional(plan.answers());
  }

  @Override
  public Trace trace(String key, Plan plan) {
    Optional<Stored> any = plan.stored().values().stream().findFirst();
    return any.isEmpty()
        ? new Trace.Nothing()
        : new Trace.OwnRows(connection -> wasAnswered(connection, any.get()));
  }

  private static boolean wasAnswered(Connection connection, Stored stored) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(WAS_ANSWERED)) {
      statement.setString(1, stored.key());
      statement.setString(2, stored.request());
      try (ResultSet row = statement.executeQuery()) {
        return row.next();
      }
    }
  }

  private static void require(@Nullable Rows<?> rows, int expected) throws SQLException {
    if (rows != null && rows.changed() != expected) {
      throw SqlFault.conflict("another node was faster with a key or an intent of this batch");
    }
  }

  private static Rows<?> storeAnswers(RoundTrip trip, OffsetDateTime now, Plan plan) {
    Collection<Stored> stored = plan.stored().values();
    return trip.update(
        INSERT_ANSWERS,
        now,
        texts(stored, Stored::key),
        texts(stored, Stored::request),
        texts(stored, Stored::fingerprint),
        SqlArray.smallints(stored.stream().map(s -> (short) s.status()).toList()),
        texts(stored, Stored::body));
  }

  private static void insertIntents(RoundTrip trip, OffsetDateTime now, List<Intent> intents) {
    trip.update(
        INSERT_INTENTS,
        now,
        texts(intents, Intent::id),
        SqlArray.bigints(intents.stream().map(Intent::amount).toList()),
        texts(intents, Intent::currency),
        statuses(intents),
        texts(intents, Intent::paymentMethod),
        texts(intents, Intent::clientSecret),
        texts(intents, Intent::description),
        texts(intents, intent -> intent.metadata().encode()),
        texts(intents, IntentRows::errorCode),
        texts(intents, IntentRows::declineCode));
  }

  private static Rows<?> updateIntents(
      RoundTrip trip, OffsetDateTime now, Collection<Intent> intents) {
    return trip.update(
        UPDATE_INTENTS,
        now,
        texts(intents, Intent::id),
        statuses(intents),
        texts(intents, Intent::paymentMethod),
        texts(intents, IntentRows::errorCode),
        texts(intents, IntentRows::declineCode),
        texts(intents, Intent::cancellationReason),
        SqlArray.bigints(intents.stream().map(Intent::refunded).toList()));
  }

  private static void insertRefunds(RoundTrip trip, OffsetDateTime now, List<Refund> refunds) {
    trip.update(
        INSERT_REFUNDS,
        now,
        texts(refunds, Refund::id),
        texts(refunds, Refund::intent),
        SqlArray.bigints(refunds.stream().map(Refund::amount).toList()),
        texts(refunds, Refund::currency),
        texts(refunds, Refund::reason),
        texts(refunds, refund -> refund.metadata().encode()),
        refundStatuses(refunds));
  }

  private static void updateRefunds(RoundTrip trip, Collection<Refund> refunds) {
    trip.update(UPDATE_REFUNDS, texts(refunds, Refund::id), refundStatuses(refunds));
  }

  private static SqlArray refundStatuses(Collection<Refund> refunds) {
    return SqlArray.smallints(refunds.stream().map(refund -> refund.status().code()).toList());
  }

  private void insertWebhooks(RoundTrip trip, OffsetDateTime now, List<Event> events) {
    long takeOverMs = takeOverAfter.map(Duration::toMillis).orElse(0L);
    trip.update(
        INSERT_WEBHOOKS,
        now,
        texts(events, Event::id),
        texts(events, Event::type),
        texts(events, Event::kept),
        texts(events, Event::answer),
        SqlArray.bigints(
            events.stream()
                .map(event -> event.delay().isZero() ? takeOverMs : event.delay().toMillis())
                .toList()));
  }

  private static SqlArray statuses(Collection<Intent> intents) {
    return SqlArray.smallints(intents.stream().map(intent -> intent.status().code()).toList());
  }

  private static <T> SqlArray texts(Collection<T> items, Function<T, @Nullable String> column) {
    List<@Nullable String> values = new ArrayList<>(items.size());
    for (T item : items) {
      values.add(column.apply(item));
    }
    return SqlArray.texts(values);
  }

  private static Stored readStored(ResultSet row) throws SQLException {
    return new Stored(
        row.getString("key"),
        row.getString("request"),
        row.getString("fingerprint"),
        row.getInt("status"),
        row.getString("body"));
  }
}
