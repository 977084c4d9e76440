package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The database crashes under a relay that lives on. The relay has seen transactions whose ids never
 * reached the disk; after its recovery the database gives these ids out again.
 */
class CrashedServerTest {
  private static final int BURNT = 200;

  @RegisterExtension static final TestDatabase database = TestDatabase.ownServer(true);
  @RegisterExtension final Post post = new Post(database);

  private final AtomicLong seen = new AtomicLong();
  private final CountDownLatch holding = new CountDownLatch(1);
  private final CountDownLatch go = new CountDownLatch(1);
  private final CountDownLatch appended = new CountDownLatch(1);
  private final CountDownLatch held = new CountDownLatch(1);
  private final AtomicInteger looks = new AtomicInteger();
  private volatile boolean crashing;
  private volatile boolean holdsAnswers;

  /** Nobody but the log's own writer, which the tests stop, flushes what nobody waits for. */
  @BeforeAll
  static void flushSeldom() {
    database.execute("ALTER SYSTEM SET bgwriter_lru_maxpages = 0");
    database.execute("ALTER SYSTEM SET autovacuum = off");
    database.execute("SELECT pg_reload_conf()");
  }

  @AfterEach
  void release() {
    appended.countDown();
    go.countDown();
  }

  @Test
  void anIdleRelayMissesNothingThatIsAppendedAfterTheCrash() throws Exception {
    post.define("sink");
    start();
    post.append("a", "a");
    post.awaitDelivered(2);

    crashAfterTheRelayHasSeen(burnIds());
    appendMore(4);
    // From here on ids are new to everybody: what comes now must not overtake.
    rollBack(2 * BURNT);
    appendMore(4);
    appended.countDown();

    awaitInOrder(10);
  }

  @Test
  void aSlowSinkGetsEveryEventInOrderAfterTheCrash() throws Exception {
    post.define("sink");
    post.sink.behaviour =
        event -> {
          hold();
          return SinkResult.DELIVERED;
        };
    start();
    post.append("a", "a");
    await(holding);

    crashAfterTheRelayHasSeen(burnIds());
    appendMore(4);
    appended.countDown();
    go.countDown();
    appendMore(4);

    awaitInOrder(10);
  }

  @Test
  void whatWasReachedBeforeTheCrashIsNotWrittenDownAfterIt() throws Exception {
    post.define("sink");
    post.sink.behaviour =
        event -> {
          hold();
          return SinkResult.DELIVERED;
        };
    // After some looks that find nothing, the next one is far off.
    start(Duration.ofSeconds(2));
    post.append("a", "a");
    await(holding);
    Await.until("looks seldom", () -> looks.get() >= 12);
    long last = burnIds();
    // The relay is between a look and what follows it.
    holdsAnswers = true;
    await(held);
    assertThat(seen.get()).isGreaterThan(last);

    crash(last);
    appendMore(8);
    // What it has seen is then behind the server again, and nobody can tell by the ids.
    rollBack(2 * BURNT);
    appended.countDown();
    go.countDown();

    awaitInOrder(10);
  }

  @Test
  void aKeyThatWaitsIsReadFromWhatIsStoredAfterTheCrash() throws Exception {
    post.define("sink");
    post.sink.behaviour = event -> new SinkResult.RetryLater("not yet");
    start();
    post.append("a", "a");
    Await.until("it waits", () -> post.sink.calls.get() > 1);

    crashAfterTheRelayHasSeen(burnIds());
    appendMore(8);
    appended.countDown();
    post.sink.behaviour = event -> SinkResult.DELIVERED;

    awaitInOrder(10);
  }

  private void start() {
    start(Duration.ofMillis(20));
  }

  /** Its heart beats seldom: every beat would flush what the others have written. */
  private void start(Duration pollInterval) {
    SnapshotSource source = new SnapshotSource(post.transactor());
    EventSource noting =
        new EventSource() {
          @Override
          public Look look(List<ReadRequest> asks, int maxRows, int maxBytes) {
            awaitAppends();
            Look look = source.look(asks, maxRows, maxBytes);
            look.batches().forEach(batch -> note(batch.after()));
            looks.incrementAndGet();
            if (holdsAnswers) {
              held.countDown();
              await(appended);
            }
            return look;
          }

          @Override
          public Backlog backlog(
              ReadRequest ask, List<BacklogRequest> keys, int maxRows, int maxBytes) {
            awaitAppends();
            return source.backlog(ask, keys, maxRows, maxBytes);
          }
        };
    post.start(
        Post.relayConfig()
            .withLease(Post.LONG, Duration.ofMinutes(4))
            .withPollInterval(pollInterval)
            .withMaintenanceInterval(Post.LONG)
            .withMaxAttempts(1_000_000)
            .withDeliverTimeout(Duration.ofMinutes(2)),
        post.types(),
        noting);
  }

  /** After the crash it comes late: by then ids that it knows are others'. */
  private void awaitAppends() {
    if (crashing) {
      await(appended);
    }
  }

  private void note(CursorPosition position) {
    String snapshot = position.target() == null ? position.done() : position.target();
    seen.accumulateAndGet(Long.parseLong(snapshot.split(":", -1)[1]), Math::max);
  }

  /** Transactions that roll back: nobody waits for their records to be on the disk. */
  private static long burnIds() throws Exception {
    signal("STOP", walWriter());
    return rollBack(BURNT);
  }

  private static long rollBack(int count) throws SQLException {
    long last = 0;
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < count; i++) {
        last = Long.parseLong(Sql.text(connection, "SELECT pg_current_xact_id()::text"));
        connection.rollback();
      }
    }
    return last;
  }

  private void crashAfterTheRelayHasSeen(long id) throws Exception {
    Await.until("seen by the relay", () -> seen.get() > id);
    crashing = true;
    crash(id);
  }

  /** As when one of its processes dies: the server ends all others, and recovers by itself. */
  private static void crash(long id) throws Exception {
    long old = walWriter();
    signal("KILL", old);
    Await.until("recovered", () -> isUpWithout(old));
    assertThat(database.queryLong("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"))
        .as("ids are given out again")
        .isLessThan(id);
  }

  private static boolean isUpWithout(long process) {
    try {
      return walWriter() != process;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  private static long walWriter() {
    return database.queryLong(
        "SELECT COALESCE(max(pid), 0) FROM pg_stat_activity WHERE backend_type = 'walwriter'");
  }

  private static void signal(String name, long process) throws Exception {
    assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(process)).start().waitFor())
        .isZero();
  }

  private void appendMore(int count) {
    for (int i = 0; i < count; i++) {
      post.append("a");
    }
  }

  private void awaitInOrder(int count) {
    Await.until("all delivered", () -> post.sink.seqs("a").contains((long) count));
    assertThat(post.sink.seqs("a").stream().distinct())
        .containsExactlyElementsOf(LongStream.rangeClosed(1, count).boxed().toList());
  }

  private void hold() {
    holding.countDown();
    await(go);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
