package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.fault.LockstepException;
import dev.lockstep.outbox.SinkActionResult.Changed;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What operators order while events are on their way. */
class OrdersUnderWayTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated().withPoolSize(40);

  @RegisterExtension final Post post = new Post(database);

  private static final String[] KEYS = {"a", "b", "c", "d", "e", "f"};
  private static final int ROUNDS = 40;

  private final CountDownLatch sending = new CountDownLatch(1);
  private final CountDownLatch ordered = new CountDownLatch(1);

  @Test
  void aSkipStandsAgainstAnAttemptThatFailsAfterIt() {
    Outbox outbox = post.define("sink");
    parkAndRetry(outbox, new SinkResult.Poison("still no"));
    SinkActionResult skipped =
        post.transactor().call(c -> outbox.skip(c, post.stream, "sink", "a", 2, "ann", "broken"));
    assertThat(skipped).isEqualTo(new Changed());
    ordered.countDown();

    Await.until("it goes on", () -> parked().isEmpty());
    assertThat(post.sink.seqs("a")).containsExactly(1L, 3L);
  }

  @Test
  void aReplayStandsAgainstAnAttemptThatFreesItsKeyAfterIt() {
    Outbox outbox = post.define("sink");
    parkAndRetry(outbox, SinkResult.DELIVERED);
    SinkActionResult replayed =
        post.transactor().call(c -> outbox.replay(c, post.stream, "sink", "a", 1, "ann", "lost"));
    assertThat(replayed).isEqualTo(new Changed());
    ordered.countDown();

    Await.until("replayed", () -> post.sink.seqs("a").size() == 6);
    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L, 3L, 1L, 2L, 3L);
  }

  /** The second event of "a" was parked, and is tried again when this returns. */
  private void parkAndRetry(Outbox outbox, SinkResult result) {
    post.sink.behaviour =
        event -> event.seq() == 2 ? new SinkResult.Poison("no") : SinkResult.DELIVERED;
    post.start();
    post.append("a", "a", "a");
    Await.until("parked", () -> parked().size() == 1);
    post.sink.behaviour =
        event -> {
          if (event.seq() != 2 || ordered.getCount() == 0) {
            return SinkResult.DELIVERED;
          }
          sending.countDown();
          await(ordered);
          return result;
        };
    post.transactor().run(c -> outbox.retry(c, post.stream, "sink", "a", "ann", "mended"));
    await(sending);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private List<ParkedKey> parked() {
    return post.outbox().parked(post.stream, "sink", Optional.empty(), 100);
  }

  private record Skipped(String key, long seq) {}

  @Test
  void whateverIsOrderedNothingIsLostOrOvertaken() {
    Outbox outbox = post.define("sink");
    Random random = new Random(7);
    post.sink.behaviour = event -> anyResult(random.nextInt(30));
    Relay[] relays = {small(), small()};
    Set<Skipped> skipped = new HashSet<>();
    long appended = 0;
    for (int i = 0; i < ROUNDS; i++) {
      try {
        post.append(KEYS);
        appended++;
        if (i % 20 == 19) {
          cutSessions();
        } else if (i % 12 == 11) {
          int which = random.nextInt(2);
          post.stop(relays[which]);
          relays[which] = small();
        } else {
          order(outbox, random, appended, skipped);
        }
      } catch (LockstepException e) {
        // Its session was cut.
      }
    }
    post.sink.behaviour = event -> SinkResult.DELIVERED;
    Await.until(
        "all delivered",
        () -> {
          parked().forEach(one -> retry(outbox, one.key()));
          return parked().isEmpty() && outbox.lags(post.stream).get(0).events() == 0;
        });

    for (String key : KEYS) {
      long next = 1;
      for (long seq : post.sink.seqs(key)) {
        while (seq > next && skipped.contains(new Skipped(key, next))) {
          next++;
        }
        assertThat(seq).as(key).isLessThanOrEqualTo(next);
        next = Math.max(next, seq + 1);
      }
      while (skipped.contains(new Skipped(key, next))) {
        next++;
      }
      assertThat(next).as(key).isEqualTo(lastSeq(key) + 1);
    }
  }

  /** Reads so small that steps take several. */
  private Relay small() {
    return post.start(Post.relayConfig().withBatchRows(3), post.types());
  }

  private static SinkResult anyResult(int dice) {
    return switch (dice) {
      case 0 -> new SinkResult.Poison("no");
      case 1 -> new SinkResult.RetryLater("not yet");
      case 2 -> new SinkResult.Down("down");
      default -> SinkResult.DELIVERED;
    };
  }

  private static void cutSessions() {
    database.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            + " WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid % 3 = 0");
  }

  private void order(Outbox outbox, Random random, long appended, Set<Skipped> skipped) {
    String key = KEYS[random.nextInt(KEYS.length)];
    long from = random.nextLong(1, appended + 1);
    switch (random.nextInt(8)) {
      case 0, 1 -> parked().forEach(one -> retry(outbox, one.key()));
      case 2 ->
          post.transactor()
              .run(c -> outbox.replay(c, post.stream, "sink", key, from, "ann", "lost"));
      case 3 ->
          post.transactor()
              .run(
                  c -> {
                    outbox.retry(c, post.stream, "sink", key, "ann", "mended");
                    outbox.replayAll(
                        c, post.stream, "sink", Math.max(1, appended - 5), "ann", "lost");
                  });
      case 4 ->
          parked().stream()
              .findFirst()
              .ifPresent(
                  one -> {
                    // Noted first: whether it was committed may not be known.
                    skipped.add(new Skipped(one.key(), one.seq()));
                    post.transactor()
                        .run(
                            c ->
                                outbox.skip(
                                    c, post.stream, "sink", one.key(), one.seq(), "ann", "broken"));
                  });
      default -> {}
    }
  }

  private void retry(Outbox outbox, String key) {
    post.transactor().run(c -> outbox.retry(c, post.stream, "sink", key, "ann", "mended"));
  }

  private long lastSeq(String key) {
    return database.queryLong(
        "SELECT k.seq FROM lockstep.outbox_key k JOIN lockstep.outbox_stream s ON s.id = k.stream"
            + " WHERE s.name = ? AND k.key = ?",
        post.stream,
        key);
  }
}
