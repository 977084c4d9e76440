package dev.lockstep.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;

/**
 * The relay of the ordered-outbox document: advisory locks tried in the query and released at its
 * end, before anything is sent. It sends events twice and out of order; measured are only its speed
 * and the repeats.
 */
final class DocumentRelay {
  private static final int RELAYS = 4;
  private static final int BATCH = 500;

  private static final String FETCH =
      """
      SELECT id FROM document_outbox
      WHERE status = 'PENDING' AND pg_try_advisory_xact_lock(hashtext(portfolio_id::text))
      ORDER BY created_at ASC, id ASC
      LIMIT ?""";
  private static final String SENT =
      "UPDATE document_outbox SET status = 'SENT', sends = sends + 1 WHERE id = ANY (?)";

  private DocumentRelay() {}

  /**
   * The result.
   *
   * @param perSecond events, each counted once
   */
  record Outcome(double perSecond, long sentTwice) {}

  static Outcome run(BenchDatabase database, int count) throws Exception {
    database.execute(
        """
        CREATE TABLE document_outbox (
          id bigint PRIMARY KEY, portfolio_id text NOT NULL, payload text NOT NULL,
          status text NOT NULL DEFAULT 'PENDING', sends integer NOT NULL DEFAULT 0,
          created_at timestamptz NOT NULL DEFAULT clock_timestamp());
        CREATE INDEX ON document_outbox (created_at, id) WHERE status = 'PENDING';
        INSERT INTO document_outbox (id, portfolio_id, payload)
          SELECT n, 'portfolio-' || n %% %d, repeat('x', 200) FROM generate_series(1, %d) n;
        ANALYZE document_outbox
        """
            .formatted(Relaying.PORTFOLIOS, count));
    LongAdder sent = new LongAdder();
    ExecutorService relays = Executors.newFixedThreadPool(RELAYS);
    try {
      long startedNanos = System.nanoTime();
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < RELAYS; i++) {
        running.add(
            relays.submit(
                () -> {
                  relay(database, sent);
                  return null;
                }));
      }
      for (Future<?> one : running) {
        one.get();
      }
      double seconds = (System.nanoTime() - startedNanos) / 1e9;
      long distinct = database.number("SELECT count(*) FROM document_outbox WHERE status = 'SENT'");
      Report.requireBalance("documents' query", count, distinct);
      return new Outcome(distinct / seconds, sent.sum() - distinct);
    } finally {
      relays.shutdownNow();
    }
  }

  private static void relay(BenchDatabase database, LongAdder sent) throws SQLException {
    while (database.number("SELECT count(*) FROM document_outbox WHERE status = 'PENDING'") > 0) {
      List<Long> batch = fetch(database);
      sent.add(batch.size());
      try (Connection connection = database.pool().getConnection()) {
        Sql.run(connection, SENT, connection.createArrayOf("bigint", batch.toArray()));
      }
    }
  }

  private static List<Long> fetch(BenchDatabase database) throws SQLException {
    List<Long> ids = new ArrayList<>();
    try (Connection connection = database.pool().getConnection();
        PreparedStatement statement = connection.prepareStatement(FETCH)) {
      statement.setInt(1, BATCH);
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          ids.add(row.getLong(1));
        }
      }
    }
    return ids;
  }
}
