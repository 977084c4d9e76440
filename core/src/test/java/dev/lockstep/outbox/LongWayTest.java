package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.fault.StatementTimeout;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Statements that must step over any number of events: they have the time for it, or never end. */
class LongWayTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  private static final long EVENTS = 200_000;

  /** What reading them takes is far more. */
  private static final Duration HASTE = Duration.ofMillis(10);

  /** After a long transaction the way is as long. */
  @Test
  void aReplayFromALateSequenceArrivesHoweverManyEventsLieBeforeIt() {
    Outbox outbox = post.define();
    append(EVENTS);
    outbox.define(
        post.stream, List.of(SinkSpec.of("sink", MemorySink.TYPE, "").startingNow()), "test");
    post.start(Post.relayConfig(), post.types(), new SnapshotSource(hasty(HASTE)));

    post.transactor()
        .run(c -> outbox.replayAll(c, post.stream, "sink", EVENTS - 1, "ann", "lost there"));

    post.awaitDelivered(2);
    assertThat(post.sink.seqs("a")).containsExactly(EVENTS - 1, EVENTS);
  }

  /** Counting takes the longer the more events there are. */
  @Test
  void aSegmentIsFreedThatIsGivenUpSlowly() {
    SegmentWear wear = new SegmentWear(database);
    Outbox outbox = new Outbox(post.transactor(), Post.config(), SegmentWear.WIDTH);
    wear.reachASegment(outbox);
    outbox.define(
        post.stream,
        List.of(SinkSpec.of("sink", MemorySink.TYPE, "").givingUpAfter(Duration.ofSeconds(1))),
        "test");
    post.append("a");
    Outbox hasty = new Outbox(hasty(Duration.ofMillis(500)), Post.config(), SegmentWear.WIDTH);
    database.execute(
        """
        CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_sleep(1); RETURN NEW; END $$;
        CREATE TRIGGER slowly BEFORE INSERT ON lockstep.outbox_audit
          FOR EACH ROW WHEN (NEW.action = 'give-up') EXECUTE FUNCTION slowly()""");

    Await.until(
        "freed",
        () -> {
          wear.burn(SegmentWear.WIDTH / 4);
          try {
            hasty.maintain();
          } catch (StatementTimeout e) {
            // Making segments may take longer on a busy machine.
          }
          return outbox.events(post.stream, "a", 0, 10).isEmpty();
        });

    assertThat(outbox.audit(post.stream, OptionalLong.empty(), 1))
        .singleElement()
        .satisfies(entry -> assertThat(entry.action()).isEqualTo("give-up"));
  }

  private static Transactor hasty(Duration statementTimeout) {
    TxOptions options =
        TxOptions.DEFAULT.withLockTimeout(statementTimeout).withStatementTimeout(statementTimeout);
    return new Transactor(database.dataSource(), options, attempt -> {});
  }

  private void append(long count) {
    short part = Partitioning.partOf(post.stream, "a", Post.PARTITIONS);
    long stream =
        database.queryLong("SELECT id FROM lockstep.outbox_stream WHERE name = ?", post.stream);
    database.execute(
        """
        INSERT INTO lockstep.outbox_key (part, stream, key, seq, ord)
        VALUES (%1$d, %2$d, 'a', %3$d, pg_current_xact_id());
        INSERT INTO lockstep.outbox_event
          (part, stream, ord, xid, key, seq, type, content_type, headers, data, bytes)
        SELECT %1$d, %2$d, pg_current_xact_id(), pg_current_xact_id(), 'a', n, 'noted',
          'application/json', '', '{}', 2
        FROM generate_series(1, %3$d) n"""
            .formatted(part, stream, count));
  }
}
