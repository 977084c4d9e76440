package dev.lockstep.gateway;

import dev.lockstep.combine.Combiner;
import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import dev.lockstep.tx.TxWork;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The gateway's state, for event loops: changes go through the combiner, reads to a worker. */
final class Bookkeeper implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Bookkeeper.class);

  /** Short compared with a payment at a real provider. */
  private static final Duration GATHER = Duration.ofMillis(5);

  private static final int READERS = 4;
  private static final Duration SEARCHED = Duration.ofDays(2);
  private static final int MAX_FOUND = 100;
  private static final long FORGET_INTERVAL_MS = 60_000;
  private static final int FORGET_BATCH = 5_000;

  /**
   * In small batches: a day's keys in one statement would stall the writers. Keeps answers that an
   * undelivered webhook refers to.
   */
  private static final String FORGET_OLD_ANSWERS =
      """
      DELETE FROM gateway.answer WHERE key IN
        (SELECT a.key FROM gateway.answer a WHERE a.created_at < now() - interval '24 hours'
           AND NOT EXISTS (SELECT 1 FROM gateway.webhook w WHERE w.answer = a.key) LIMIT ?)""";

  private final Vertx vertx;
  private final Transactor transactor;
  private final TxOptions reading;
  private final Combiner<String, GatewayRequest, Answer> combiner;
  private final WorkerExecutor readers;
  private final Consumer<Event> afterCommit;
  private final long forgetTimer;

  /**
   * @param afterCommit receives each event after its cause has committed; called on any thread
   */
  Bookkeeper(
      Vertx vertx, Transactor transactor, BooksOperation operation, Consumer<Event> afterCommit) {
    this.vertx = vertx;
    this.transactor = transactor;
    this.reading = transactor.defaults().withLabel("gateway read").asReadOnly();
    this.combiner =
        Combiner.on(transactor, operation, CombinerConfig.named("gateway").withGather(GATHER));
    this.readers = vertx.createSharedWorkerExecutor("gateway-read", READERS);
    this.afterCommit = afterCommit;
    this.forgetTimer =
        vertx.setPeriodic(
            FORGET_INTERVAL_MS,
            id ->
                readers
                    .executeBlocking(this::forgetOldAnswers, false)
                    .onFailure(e -> log.warn("Old keys are kept for now: {}", e.toString())));
  }

  Future<Answer> submit(GatewayRequest request) {
    return Future.fromCompletionStage(
        combiner
            .submit(BooksOperation.KEY, request)
            .thenApply(
                answer -> {
                  if (answer.event() != null) {
                    afterCommit.accept(answer.event());
                  }
                  return answer;
                }),
        vertx.getOrCreateContext());
  }

  Future<Answer> intent(String id) {
    return read(c -> IntentRows.find(c, id))
        .map(found -> found(found.map(StripeJson::intent), "payment_intent", id));
  }

  Future<Answer> refund(String id, boolean expanded) {
    return read(c -> expand(c, IntentRows.findRefund(c, id).stream().toList(), expanded))
        .map(found -> found(found.stream().findFirst(), "refund", id));
  }

  Future<Answer> intents(Page page) {
    return read(c -> IntentRows.page(c, page))
        .map(rows -> list("/v1/payment_intents", rows, page, StripeJson::intent));
  }

  Future<Answer> refunds(Page page, @Nullable String intent) {
    return read(c ->
            expand(c, IntentRows.refundPage(c, Optional.ofNullable(intent), page), page.expanded()))
        .map(rows -> list("/v1/refunds", rows, page, one -> one));
  }

  /** As JSON; {@code expanded}: with the payment in place of its id. */
  private static List<JsonObject> expand(
      Connection connection, List<Refund> refunds, boolean expanded) throws SQLException {
    Map<String, Intent> intents =
        expanded
            ? IntentRows.find(connection, refunds.stream().map(Refund::intent).toList())
            : Map.of();
    List<JsonObject> shown = new ArrayList<>();
    for (Refund refund : refunds) {
      JsonObject json = StripeJson.refund(refund);
      Intent intent = intents.get(refund.intent());
      shown.add(intent == null ? json : json.put("payment_intent", StripeJson.intent(intent)));
    }
    return shown;
  }

  /** The newest intents of the last two days with this metadata. */
  Future<Answer> search(JsonObject metadata) {
    String from = GatewayIds.since("pi_", Instant.now().minus(SEARCHED));
    return read(c -> IntentRows.search(c, from, metadata, MAX_FOUND))
        .map(
            found ->
                Answer.ok(
                    StripeJson.found(
                        "/v1/payment_intents/search",
                        found.stream().map(StripeJson::intent).toList())));
  }

  /** Ends a pending refund. */
  Future<Answer> settleRefund(String id, RefundStatus to) {
    return read(c -> IntentRows.findRefund(c, id))
        .compose(
            refund ->
                refund.isEmpty()
                    ? Future.succeededFuture(Answer.of(StripeError.noSuch("refund", id, "id")))
                    : submit(
                        GatewayRequest.ofOurOwn(
                            new Command.SettleRefund(id, refund.get().intent(), to))));
  }

  @Override
  public void close() {
    vertx.cancelTimer(forgetTimer);
    combiner.close();
    readers.close();
  }

  private <T> Future<T> read(TxWork<T> query) {
    return readers.executeBlocking(() -> transactor.call(reading, query), false);
  }

  private int forgetOldAnswers() {
    int forgotten = 0;
    int batch;
    do {
      batch = transactor.call(Bookkeeper::forgetSome);
      forgotten += batch;
    } while (batch == FORGET_BATCH);
    return forgotten;
  }

  private static int forgetSome(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(FORGET_OLD_ANSWERS)) {
      statement.setInt(1, FORGET_BATCH);
      return statement.executeUpdate();
    }
  }

  private static Answer found(Optional<JsonObject> found, String what, String id) {
    return found
        .map(json -> Answer.ok(json.encode()))
        .orElseGet(() -> Answer.of(StripeError.noSuch(what, id, "id")));
  }

  /** {@code rows} has one row more than the page if there are more pages. */
  private static <T> Answer list(
      String url, List<T> rows, Page page, Function<T, JsonObject> json) {
    boolean more = rows.size() > page.limit();
    List<T> shown = more ? rows.subList(0, page.limit()) : rows;
    return Answer.ok(StripeJson.list(url, shown.stream().map(json).toList(), more));
  }
}
