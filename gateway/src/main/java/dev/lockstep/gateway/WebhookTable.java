package dev.lockstep.gateway;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/** The events not yet delivered. Every method blocks and commits. Thread-safe. */
final class WebhookTable {
  // Skips rows that others have locked: they are claiming or ending them. Moving due_at is the
  // claim; if the claimer dies, the event becomes due again.
  static final String CLAIM_DUE =
      """
      UPDATE gateway.webhook w SET due_at = now() + ? * interval '1 millisecond'
      FROM (SELECT event FROM gateway.webhook WHERE due_at <= now()
            ORDER BY due_at LIMIT ? FOR UPDATE SKIP LOCKED) due
      WHERE w.event = due.event
      RETURNING w.event, w.type, w.body || coalesce(
        (SELECT a.body || '%s' FROM gateway.answer a WHERE a.key = w.answer), '') AS whole, w.attempts"""
          .formatted(StripeJson.EVENT_END);

  static final String DELETE = "DELETE FROM gateway.webhook WHERE event = ANY (?)";

  // A negative wait means never again.
  private static final String RETRY =
      """
      UPDATE gateway.webhook w
      SET attempts = w.attempts + x.failures, due_at = CASE WHEN x.wait_ms < 0 THEN 'infinity'
        ELSE now() + x.wait_ms * interval '1 millisecond' END
      FROM unnest(?, ?, ?) AS x (event, failures, wait_ms)
      WHERE w.event = x.event""";

  private final Transactor transactor;
  final TxOptions options;

  WebhookTable(Transactor transactor) {
    this.transactor = transactor;
    // The table is often empty. A plan made then would still scan it when it is full.
    this.options = transactor.defaults().withLabel("gateway webhooks").withIndexLookups();
  }

  /**
   * An event that goes back to the table.
   *
   * @param failures 1 if an attempt failed, 0 if there was none
   * @param waitMs until it is due again; negative: given up
   */
  record Return(String event, int failures, long waitMs) {}

  /** Claims due events until {@code takeOverAfter} has passed. */
  List<Event> claimDue(Duration takeOverAfter, int limit) {
    return transactor.call(
        options,
        connection ->
            RoundTrip.list(
                connection,
                CLAIM_DUE,
                row ->
                    Event.stored(
                        row.getString("event"),
                        row.getString("type"),
                        row.getString("whole"),
                        row.getInt("attempts")),
                takeOverAfter.toMillis(),
                limit));
  }

  /** Deletes what was delivered and puts back what was not, in one transaction. */
  void settle(Collection<String> delivered, Collection<Return> returned) {
    transactor.run(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          if (!delivered.isEmpty()) {
            trip.update(DELETE, SqlArray.texts(delivered));
          }
          if (!returned.isEmpty()) {
            trip.update(
                RETRY,
                SqlArray.texts(returned.stream().map(Return::event).toList()),
                SqlArray.integers(returned.stream().map(Return::failures).toList()),
                SqlArray.bigints(returned.stream().map(Return::waitMs).toList()));
          }
          trip.send();
        });
  }
}
