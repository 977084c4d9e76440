package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The table of events is freed by segments, when nobody needs them any more. */
class SegmentsTest {
  /** Segments that the transaction which asks may still write to. */
  private static final String CLOSED_TOO_EARLY =
      """
      SELECT count(*) FROM lockstep.outbox_segment
      WHERE closed_at IS NOT NULL AND to_ord > pg_current_xact_id()""";

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);
  private final SegmentWear wear = new SegmentWear(database);
  private Outbox outbox;

  @BeforeEach
  void reachASegment() {
    outbox = outbox(Duration.ZERO);
    wear.reachASegment(outbox);
  }

  private Outbox outbox(Duration keep) {
    return new Outbox(post.transactor(), Post.config().withRetention(keep), SegmentWear.WIDTH);
  }

  private long kept(String key) {
    return outbox.events(post.stream, key, 0, 10).size();
  }

  private long inRest() {
    return database.queryLong(
        """
        SELECT count(*) FROM lockstep.outbox_event_rest e
          JOIN lockstep.outbox_stream s ON s.id = e.stream WHERE s.name = ?""",
        post.stream);
  }

  private List<String> tables() {
    return database.query(
        """
        SELECT DISTINCT e.tableoid::regclass::text FROM lockstep.outbox_event e
          JOIN lockstep.outbox_stream s ON s.id = e.stream WHERE s.name = ?""",
        row -> row.getString(1),
        post.stream);
  }

  @Test
  void segmentsEverySinkIsPastAreDropped() {
    post.define("sink");
    post.append("a", "a");
    assertThat(inRest()).isZero();
    wear.closeSegments(outbox);
    assertThat(kept("a")).isEqualTo(2);
    String table = tables().get(0);
    Relay relay = post.start();
    post.awaitDelivered(2);
    // Writes down how far it is.
    post.stop(relay);

    wear.closeSegments(outbox);

    assertThat(kept("a")).isZero();
    assertThat(database.queryLong("SELECT count(to_regclass(?))", table)).isZero();
    post.start();
    post.append("a");
    post.awaitDelivered(3);
    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L, 3L);
  }

  @Test
  void aParkedKeyKeepsWhatItNeeds() {
    post.define("sink");
    post.sink.behaviour =
        event -> event.key().equals("bad") ? new SinkResult.Poison("no") : SinkResult.DELIVERED;
    Relay first = post.start();
    post.append("bad", "good");
    Await.until("parked", () -> parked() == 1);
    post.awaitDelivered(1);
    wear.closeSegments(outbox);
    // With this the sink is past the segment, but for the key.
    post.append("good");
    post.awaitDelivered(2);
    post.stop(first);
    wear.closeSegments(outbox);
    assertThat(kept("bad")).isOne();

    post.sink.behaviour = event -> SinkResult.DELIVERED;
    post.transactor().run(c -> outbox.retry(c, post.stream, "sink", "bad", "ann", "mended"));
    Relay second = post.start();
    post.awaitDelivered(3);
    Await.until("free", () -> parked() == 0);
    post.stop(second);
    wear.closeSegments(outbox);

    assertThat(kept("bad")).isZero();
  }

  private int parked() {
    return outbox.parked(post.stream, "sink", Optional.empty(), 1).size();
  }

  @Test
  void anOpenTransactionKeepsTheSegmentItMayStillWriteTo() throws Exception {
    outbox.define(post.stream, List.of(), "test");
    try (Connection open = database.connection()) {
      open.setAutoCommit(false);
      outbox.append(open, post.event("late"));
      wear.closeSegments(outbox);
      // Nor does the time for which events are kept begin.
      assertThat(Sql.query(open, CLOSED_TOO_EARLY)).isZero();
      open.commit();
    }
    assertThat(kept("late")).isOne();
    wear.closeSegments(outbox);
    // Nobody is to have it: there is no sink.
    assertThat(kept("late")).isZero();
  }

  @Test
  void whatCommitsBehindASinkKeepsItsSegment() throws Exception {
    post.define("sink");
    try (Connection open = database.connection()) {
      open.setAutoCommit(false);
      outbox.append(open, post.event("late"));
      wear.closeSegments(outbox);
      // A sink that has seen everything but the one transaction is past it by its number.
      Relay relay = post.start();
      post.append("a");
      post.awaitDelivered(1);
      post.stop(relay);
      open.commit();
    }
    wear.closeSegments(outbox);

    assertThat(kept("late")).isOne();
    post.start();
    post.awaitDelivered(2);
    assertThat(post.sink.seqs("late")).containsExactly(1L);
  }

  @Test
  void aSinkThatNeverComesBackIsGivenUpWhereThatWasChosen() {
    SinkSpec gone = SinkSpec.of("gone", MemorySink.TYPE, "");
    outbox.define(post.stream, List.of(gone.givingUpAfter(Duration.ofHours(1))), "test");
    post.append("a", "a");
    wear.closeSegments(outbox);
    assertThat(kept("a")).isEqualTo(2);
    database.execute("UPDATE lockstep.outbox_segment SET closed_at = closed_at - interval '2 h'");

    outbox.maintain();

    assertThat(kept("a")).isZero();
    AuditEntry entry = outbox.audit(post.stream, OptionalLong.empty(), 1).get(0);
    assertThat(entry.action()).isEqualTo("give-up");
    assertThat(entry.reason()).contains("2 events were not delivered within 01:00:00");
  }

  @Test
  void ofASinkGivenUpWithinAStepOnlyTheEventsBehindTheStepCount() {
    SinkSpec gone = SinkSpec.of("gone", MemorySink.TYPE, "");
    outbox.define(post.stream, List.of(gone.givingUpAfter(Duration.ofHours(1))), "test");
    post.append("a", "a");
    database.query(
        """
        UPDATE lockstep.outbox_cursor c SET target = pg_current_snapshot(), ord = e.ord, id = e.id
        FROM lockstep.outbox_event e
          JOIN lockstep.outbox_stream s ON s.id = e.stream
          JOIN lockstep.outbox_sink k ON k.stream = s.id
        WHERE c.sink = k.id AND c.part = e.part AND e.seq = 1 AND s.name = ?
        RETURNING c.part""",
        row -> row.getInt(1),
        post.stream);
    wear.closeSegments(outbox);
    database.execute("UPDATE lockstep.outbox_segment SET closed_at = closed_at - interval '2 h'");

    outbox.maintain();

    AuditEntry entry = outbox.audit(post.stream, OptionalLong.empty(), 1).get(0);
    assertThat(entry.reason()).contains("1 events were not delivered");
  }

  @Test
  void eventsAreKeptForTheTimeConfigured() {
    Outbox keeping = outbox(Duration.ofHours(1));
    keeping.define(post.stream, List.of(), "test");
    post.append("a");
    wear.closeSegments(keeping);

    assertThat(kept("a")).isOne();
    database.execute("UPDATE lockstep.outbox_segment SET closed_at = closed_at - interval '2 h'");
    keeping.maintain();
    assertThat(kept("a")).isZero();
  }

  @Test
  void whatFellBesideTheSegmentsIsDeliveredAndFreedToo() {
    post.define("sink");
    // Faster than anybody makes segments.
    wear.burn(wear.left() + 1);
    post.append("a");
    assertThat(inRest()).isOne();
    Relay relay = post.start();
    post.awaitDelivered(1);
    // Its position is seen in a transaction later than the event's.
    Await.until("at rest", () -> relay.isAtRest().join());
    wear.burn(1);
    post.append("b");
    post.awaitDelivered(2);
    post.stop(relay);

    outbox.maintain();

    assertThat(kept("a")).isZero();
  }
}
