package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.AdvisoryLocks;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The source document's outbox (docs/errata.md), how it breaks, and ours beside it. */
class NaiveOutboxTest {
  /** As it stands in the document. */
  private static final String PENDING =
      """
      SELECT id FROM document.outbox_event
      WHERE status = 'PENDING'
      AND pg_try_advisory_xact_lock(hashtext(portfolio_id::text))
      ORDER BY created_at ASC, id ASC
      LIMIT %d""";

  private static final String MARK =
      "UPDATE document.outbox_event SET status = 'SENT' WHERE id = ?";

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  /** What a consumer sees. */
  private final List<Long> sent = new ArrayList<>();

  @BeforeEach
  void makeTable() {
    database.execute(
        """
        CREATE SCHEMA IF NOT EXISTS document;
        DROP TABLE IF EXISTS document.outbox_event;
        CREATE TABLE document.outbox_event (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          portfolio_id text NOT NULL, status text NOT NULL DEFAULT 'PENDING',
          created_at timestamptz NOT NULL DEFAULT clock_timestamp())""");
  }

  private static Connection begin() throws SQLException {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    return connection;
  }

  private static void insert(Connection connection, String portfolio) throws SQLException {
    Sql.execute(
        connection, "INSERT INTO document.outbox_event (portfolio_id) VALUES (?)", portfolio);
  }

  private static void insert(String... portfolios) throws SQLException {
    try (Connection connection = begin()) {
      for (String portfolio : portfolios) {
        insert(connection, portfolio);
      }
      connection.commit();
    }
  }

  private static List<Long> fetch(Connection connection, int limit) throws SQLException {
    List<Long> ids = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(PENDING.formatted(limit));
        ResultSet row = statement.executeQuery()) {
      while (row.next()) {
        ids.add(row.getLong(1));
      }
    }
    return ids;
  }

  private void sendAndMark(Connection connection, List<Long> ids) throws SQLException {
    for (long id : ids) {
      sent.add(id);
      Sql.execute(connection, MARK, id);
    }
  }

  @Test
  void e13TheLockIsTriedOnRowsThatAreNotTaken() throws Exception {
    insert("p1", "p2", "p3");
    try (Connection relay = begin()) {
      assertThat(fetch(relay, 1)).hasSize(1);

      // The other two portfolios are locked as well, and nobody sends them.
      assertThat(
              Sql.query(
                  relay,
                  "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"))
          .isEqualTo(3);
      relay.rollback();
    }
  }

  @Test
  void e13ASnapshotOlderThanTheLockSendsTwice() throws Exception {
    insert("p1");
    try (Connection first = begin();
        Connection second = begin()) {
      // A statement's snapshot comes before its locks; here it is held still to be looked at.
      second.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      Sql.query(second, "SELECT count(*) FROM document.outbox_event");
      sendAndMark(first, fetch(first, 10));
      first.commit();

      // The lock is free again, and in the old snapshot the event is still pending.
      sent.addAll(fetch(second, 10));
      second.rollback();
    }
    assertThat(sent).containsExactly(1L, 1L);
  }

  @Test
  void e14ALockThatEndsWithTheFetchLetsALaterEventOvertake() throws Exception {
    insert("p1");
    try (Connection first = begin();
        Connection second = begin()) {
      List<Long> fetched = fetch(first, 10);
      // As in the document: the transaction that takes the lock only fetches.
      first.commit();
      insert("p1");
      sendAndMark(second, fetch(second, 10));
      second.commit();

      sendAndMark(first, fetched);
      first.commit();
    }
    assertThat(sent).containsExactly(1L, 2L, 1L);
  }

  @Test
  void e15NeitherCreatedAtNorIdIsTheOrderOfCommits() throws Exception {
    try (Connection slow = begin();
        Connection relay = begin()) {
      insert(slow, "p1");
      insert("p1");
      sendAndMark(relay, fetch(relay, 10));
      relay.commit();
      slow.commit();
      sendAndMark(relay, fetch(relay, 10));
      relay.commit();
    }
    // Ordered by created_at and id each time, and yet.
    assertThat(sent).containsExactly(2L, 1L);
  }

  @Test
  void e16ALockOn32BitsKeepsAStrangersEventFromBeingSent() throws Exception {
    // The document says that hashtext has 64 bits. Among 300,000 names some share all 32.
    List<String> twins =
        database.query(
            """
            SELECT unnest(names) FROM (
              SELECT array_agg('p' || n) AS names FROM generate_series(1, 300000) n
              GROUP BY hashtext('p' || n) HAVING count(*) > 1 ORDER BY min(n) LIMIT 1) twins""",
            row -> row.getString(1));
    String mine = twins.get(0);
    String strangers = twins.get(1);
    insert(mine);
    try (Connection first = begin();
        Connection second = begin()) {
      assertThat(Sql.text(first, "SELECT pg_typeof(hashtext('p'))::text")).isEqualTo("integer");
      assertThat(fetch(first, 10)).hasSize(1);
      insert(strangers);

      assertThat(fetch(second, 10)).as("nobody has locked " + strangers).isEmpty();
      second.rollback();

      assertThat(AdvisoryLocks.tryLock(first, mine)).isTrue();
      assertThat(AdvisoryLocks.tryLock(second, strangers)).as("ours, on 64 bits").isTrue();
      assertThat(AdvisoryLocks.tryLock(second, mine)).isFalse();
      first.rollback();
      second.rollback();
    }
  }

  /** E16: keys that share a hash share a partition, and no lock. */
  @Test
  void oursLetsTwoKeysOfOnePartitionAppendSideBySide() throws Exception {
    Outbox outbox = post.define("sink");
    post.start();
    short part = Partitioning.partOf(post.stream, "p1", Post.PARTITIONS);
    String twin =
        IntStream.iterate(2, n -> n + 1)
            .mapToObj(n -> "p" + n)
            .filter(key -> Partitioning.partOf(post.stream, key, Post.PARTITIONS) == part)
            .findFirst()
            .orElseThrow();
    try (Connection first = begin();
        Connection second = begin()) {
      outbox.append(first, post.event("p1"));
      outbox.append(second, post.event(twin));
      second.commit();
      post.awaitDelivered(1);
      assertThat(post.sink.seqs(twin)).containsExactly(1L);
      first.commit();
    }
    post.awaitDelivered(2);
    assertThat(post.sink.seqs("p1")).containsExactly(1L);
  }

  @Test
  void oursMakesTheSecondWriterOfAKeyWaitForTheFirst() throws Exception {
    Outbox outbox = post.define("sink");
    post.start();
    try (Connection slow = begin()) {
      outbox.append(slow, post.event("p1"));
      CompletableFuture<List<AppendedEvent>> later =
          CompletableFuture.supplyAsync(() -> post.append("p1"));
      Await.blocked(database, 1);
      slow.commit();

      assertThat(later.get().get(0).seq()).isEqualTo(2);
    }
    post.awaitDelivered(2);
    assertThat(post.sink.seqs("p1")).containsExactly(1L, 2L);
  }
}
