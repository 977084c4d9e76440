package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A database is dumped and restored on another server, whose transaction ids are far behind. */
class RestoredDumpTest {
  private static final String STREAM = "trades";
  private static final int BURNT = 3_000;

  @RegisterExtension static final TestDatabase old = TestDatabase.migrated();
  @RegisterExtension static final TestDatabase fresh = TestDatabase.ownServer(false);

  private final Map<String, MemorySink> sinks = new LinkedHashMap<>();

  @BeforeEach
  void cleanAndLetTheOldServerBeFarAhead() throws SQLException {
    DumpedOutbox.clear(old);
    DumpedOutbox.clear(fresh);
    try (Connection connection = old.connection()) {
      connection.setAutoCommit(false);
      while (next(old) < next(fresh) + BURNT) {
        for (int i = 0; i < BURNT; i++) {
          Sql.text(connection, "SELECT pg_current_xact_id()::text");
          connection.rollback();
        }
      }
    }
  }

  private static long next(TestDatabase database) {
    return database.queryLong("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint");
  }

  @Test
  void sinksThatHadEverythingGetWhatIsNew() throws Exception {
    define(old, "sink");
    append(old, "a", "a", "b");
    relayUntil(old, "sink", 3);

    restore();

    append(fresh, "a", "c");
    relayUntil(fresh, "sink", 5);
    assertThat(sink("sink").seqs("a")).containsExactly(1L, 2L, 3L);
    assertThat(sink("sink").seqs("b")).containsExactly(1L);
    assertThat(sink("sink").seqs("c")).containsExactly(1L);
  }

  @Test
  void aSinkThatLagsGoesOnWhereItWasAndNoOtherGetsARepeat() throws Exception {
    define(old, "fast", "slow");
    append(old, "a", "b");
    relayUntil(old, "slow", 2);
    sink("slow").behaviour = event -> new SinkResult.Down("not today");
    append(old, "a", "b", "a");
    relayUntil(old, "fast", 5);
    sink("slow").behaviour = event -> SinkResult.DELIVERED;

    restore();

    append(fresh, "a", "b");
    relayUntil(fresh, "slow", 7);
    relayUntil(fresh, "fast", 7);
    for (String name : List.of("slow", "fast")) {
      assertThat(sink(name).seqs("a")).containsExactly(1L, 2L, 3L, 4L);
      assertThat(sink(name).seqs("b")).containsExactly(1L, 2L, 3L);
    }
  }

  @Test
  void aSinkThatHasHadNothingGetsAll() throws Exception {
    define(old);
    append(old, "a", "b", "a");
    define(old, "new");

    restore();

    append(fresh, "a");
    relayUntil(fresh, "new", 4);
    assertThat(sink("new").seqs("a")).containsExactly(1L, 2L, 3L);
    assertThat(sink("new").seqs("b")).containsExactly(1L);
  }

  @Test
  void aSinkThatBeginsWithNowGetsWhatIsNewOnly() throws Exception {
    define(old);
    append(old, "a", "b", "a");
    outbox(old).define(STREAM, List.of(spec("now").startingNow()), "test");

    restore();

    append(fresh, "a", "b");
    relayUntil(fresh, "now", 2);
    assertThat(sink("now").seqs("a")).containsExactly(3L);
    assertThat(sink("now").seqs("b")).containsExactly(2L);
  }

  @Test
  void aReplayGoesOn() throws Exception {
    Outbox outbox = define(old, "sink");
    append(old, "a", "a", "b");
    relayUntil(old, "sink", 3);
    transactor(old).run(c -> outbox.replayAll(c, STREAM, "sink", 2, "ann", "for the restored one"));

    restore();

    append(fresh, "a", "b");
    relayUntil(fresh, "sink", 6);
    assertThat(sink("sink").seqs("a")).containsExactly(1L, 2L, 2L, 3L);
    assertThat(sink("sink").seqs("b")).containsExactly(1L, 2L);
  }

  @Test
  void aParkedKeyStaysParkedAndGoesOnFromItsEvent() throws Exception {
    define(old, "sink");
    sink("sink").behaviour =
        event -> event.key().equals("bad") ? new SinkResult.Poison("bad") : SinkResult.DELIVERED;
    append(old, "bad", "a", "bad");
    relayUntil(old, "sink", 1);

    restore();

    append(fresh, "bad", "a");
    relayUntil(fresh, "sink", 2);
    sink("sink").behaviour = event -> SinkResult.DELIVERED;
    Outbox outbox = outbox(fresh);
    transactor(fresh).run(c -> outbox.retry(c, STREAM, "sink", "bad", "ann", "mended"));
    relayUntil(fresh, "sink", 5);
    assertThat(sink("sink").seqs("bad")).containsExactly(1L, 2L, 3L);
    assertThat(sink("sink").seqs("a")).containsExactly(1L, 2L);
  }

  @Test
  void withoutSinksNothingIsSkippedOnceThereIsOne() throws Exception {
    define(old);
    append(old, "a", "b", "a");

    restore();

    append(fresh, "a");
    define(fresh, "late");
    append(fresh, "b");
    relayUntil(fresh, "late", 5);
    assertThat(sink("late").seqs("a")).containsExactly(1L, 2L, 3L);
    assertThat(sink("late").seqs("b")).containsExactly(1L, 2L);
  }

  @Test
  void whatAProcessAppendsBeforeAnybodyHasNoticedIsDelivered() throws Exception {
    define(old, "sink");
    append(old, "a", "a");
    relayUntil(old, "sink", 2);
    Outbox unaware = outbox(fresh);

    restore();
    transactor(fresh)
        .run(
            connection -> {
              unaware.append(connection, event("a"));
              connection.setSavepoint();
              unaware.append(connection, event("b"));
            });

    relayUntil(fresh, "sink", 4);
    assertThat(sink("sink").seqs("a")).containsExactly(1L, 2L, 3L);
    assertThat(sink("sink").seqs("b")).containsExactly(1L);
  }

  @Test
  void itIsRestoredOnceMoreOnAServerThatIsAhead() throws Exception {
    define(old, "sink");
    append(old, "a", "b");
    relayUntil(old, "sink", 2);
    restore();
    append(fresh, "a");
    relayUntil(fresh, "sink", 3);
    append(fresh, "b");

    DumpedOutbox.copy(/* old= */ fresh, /* fresh= */ old);

    append(old, "a");
    relayUntil(old, "sink", 5);
    assertThat(sink("sink").seqs("a")).containsExactly(1L, 2L, 3L);
    assertThat(sink("sink").seqs("b")).containsExactly(1L, 2L);
    assertThat(outbox(old).events(STREAM, "a", 0, 10))
        .extracting(Event::seq)
        .containsExactly(1L, 2L, 3L);
  }

  @Test
  void aPositionThatIsAheadOfTheServerIsPutRightAlthoughNothingWasRestored() throws Exception {
    define(fresh, "sink");
    append(fresh, "a");
    fresh.execute("UPDATE lockstep.outbox_cursor SET done = '999999999:999999999:'");

    append(fresh, "a", "b");

    relayUntil(fresh, "sink", 3);
    assertThat(sink("sink").seqs("a")).containsExactly(1L, 2L);
  }

  @Test
  void segmentsGoOnAndThatOfTheRestoredEventsGoesWithItsTime() throws Exception {
    define(old, "sink");
    append(old, "a", "b");
    restore();
    append(fresh, "a");
    relayUntil(fresh, "sink", 3);
    fresh.execute("UPDATE lockstep.outbox_cursor SET done = pg_current_snapshot(), target = NULL");

    outbox(fresh).maintain();

    assertThat(
            fresh.query(
                "SELECT segment FROM lockstep.outbox_segment ORDER BY 1", row -> row.getInt(1)))
        .isNotEmpty()
        .doesNotContain(DumpConversion.SEGMENT);
    assertThat(
            fresh.queryLong(
                "SELECT max(to_ord::text::bigint - from_ord::text::bigint) FROM lockstep.outbox_segment"))
        .isEqualTo(Segments.FIRST_WIDTH);
  }

  private MemorySink sink(String name) {
    return sinks.computeIfAbsent(name, n -> new MemorySink());
  }

  private static SinkSpec spec(String name) {
    return SinkSpec.of(name, MemorySink.TYPE, "");
  }

  private static Transactor transactor(TestDatabase database) {
    return new Transactor(database.dataSource());
  }

  private static Outbox outbox(TestDatabase database) {
    return new Outbox(transactor(database), Post.config());
  }

  private static Outbox define(TestDatabase database, String... names) {
    Outbox outbox = outbox(database);
    List<SinkSpec> specs = new ArrayList<>();
    for (String name : names) {
      specs.add(spec(name));
    }
    outbox.define(STREAM, specs, "test");
    return outbox;
  }

  private static NewEvent event(String key) {
    return NewEvent.of(STREAM, key, "noted", Content.json("{}"));
  }

  /** Each in a transaction of its own. */
  private static void append(TestDatabase database, String... keys) {
    Outbox outbox = outbox(database);
    for (String key : keys) {
      transactor(database).run(connection -> outbox.append(connection, event(key)));
    }
  }

  /** Relays until a sink has so many, and what came of it is written down. */
  private void relayUntil(TestDatabase database, String name, int count) {
    RelayConfig config =
        Post.relayConfig().withMaxAttempts(1).withCloseTimeout(Duration.ofSeconds(5));
    SinkTypes types =
        SinkTypes.standard().with(MemorySink.TYPE, (stream, spec) -> sink(spec.name()));
    try (Relay relay = outbox(database).relay(config, types)) {
      Await.until(
          name + " has " + count + ", not " + sink(name).delivered.size(),
          () -> sink(name).delivered.size() >= count);
      if (sinks.values().stream().allMatch(one -> one.delivered.size() == count)) {
        Await.until("written", () -> relay.isAtRest().join());
      }
    }
  }

  private static void restore() throws Exception {
    DumpedOutbox.copy(old, fresh);
  }
}
