package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.outbox.EventSource.BacklogRequest;
import dev.lockstep.outbox.EventSource.Batch;
import dev.lockstep.outbox.EventSource.ReadEvent;
import dev.lockstep.outbox.EventSource.ReadRequest;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What everything rests on: PostgreSQL's snapshots and the lock on a key's row. */
class SnapshotOrderTest {
  private static final int WRITERS = 6;
  private static final int ROUNDS = 60;

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  @Test
  void aSnapshotThatSeesOneEventOfAKeySeesAllBeforeIt() throws Exception {
    Outbox outbox = post.define();
    CountDownLatch writing = new CountDownLatch(WRITERS);

    List<Long> looks =
        Race.<Long>of(WRITERS + 2)
            .run(
                caller -> {
                  if (caller < WRITERS) {
                    write(outbox, new Random(caller));
                    writing.countDown();
                    return 0L;
                  }
                  return lookUntilDone(writing);
                })
            .valuesOrThrow();

    assertThat(looks.stream().mapToLong(Long::longValue).sum()).isPositive();
  }

  /** Some have their transaction's id long before they get the key, some only then. */
  private void write(Outbox outbox, Random random) {
    Transactor transactor = post.transactor();
    for (int i = 0; i < ROUNDS; i++) {
      transactor.run(
          connection -> {
            if (random.nextBoolean()) {
              Sql.text(connection, "SELECT pg_current_xact_id()::text");
            }
            outbox.append(connection, post.event("hot"));
          });
    }
  }

  private static long lookUntilDone(CountDownLatch writing) throws Exception {
    long looks = 0;
    try (Connection connection = database.connection()) {
      while (writing.getCount() > 0) {
        assertThat(
                Sql.query(
                    connection,
                    "SELECT COALESCE(max(seq), 0) - count(*) FROM lockstep.outbox_event WHERE key = 'hot'"))
            .isZero();
        looks++;
      }
    }
    return looks;
  }

  @Test
  void looksThatAreCutAnywhereGiveEachEventOnceAndInOrder() throws Exception {
    Outbox outbox = post.define();
    CountDownLatch writing = new CountDownLatch(WRITERS);
    int stream = (int) database.queryLong("SELECT max(id) FROM lockstep.outbox_stream");
    short part = Partitioning.partOf(post.stream, "hot", Post.PARTITIONS);

    List<Long> reads =
        Race.<Long>of(WRITERS + 1)
            .run(
                caller -> {
                  if (caller < WRITERS) {
                    write(outbox, new Random(caller));
                    writing.countDown();
                    return 0L;
                  }
                  return readAll(
                      new ReadRequest(part, stream, post.stream, CursorPosition.at("1:1:")),
                      writing);
                })
            .valuesOrThrow();

    assertThat(reads.get(WRITERS)).isEqualTo((long) WRITERS * ROUNDS);
  }

  /** What comes after it is read by a look, and would be delivered twice. */
  @Test
  void theBacklogOfAKeyEndsWhereThePositionIs() {
    post.define();
    int stream = (int) database.queryLong("SELECT max(id) FROM lockstep.outbox_stream");
    short part = Partitioning.partOf(post.stream, "a", Post.PARTITIONS);
    SnapshotSource source = new SnapshotSource(post.transactor());
    ReadRequest start = new ReadRequest(part, stream, post.stream, CursorPosition.at("1:1:"));
    post.append("a", "a");
    Batch read = source.look(List.of(start), 10, 1_000).batches().get(0);
    ReadRequest ask = new ReadRequest(part, stream, post.stream, read.after());
    post.append("a");

    BacklogRequest first = new BacklogRequest("a", 1, read.rows().get(0).ord());

    assertThat(source.backlog(ask, List.of(first), 10, 1_000).rows())
        .extracting(row -> row.event().seq())
        .containsExactly(1L, 2L);
    assertThat(source.look(List.of(ask), 10, 1_000).batches().get(0).rows())
        .extracting(row -> row.event().seq())
        .containsExactly(3L);
  }

  /** Each look as small as can be: most steps take several. */
  private long readAll(ReadRequest first, CountDownLatch writing) {
    SnapshotSource source = new SnapshotSource(post.transactor());
    ReadRequest ask = first;
    long last = 0;
    boolean more = true;
    while (more) {
      boolean over = writing.getCount() == 0;
      Batch batch = source.look(List.of(ask), 3, 1_000).batches().get(0);
      for (ReadEvent row : batch.rows()) {
        assertThat(row.event().seq()).isEqualTo(++last);
      }
      // The end of a step that was under way says nothing about what came after it.
      more = !over || !batch.rows().isEmpty() || ask.from().isInStep();
      ask = new ReadRequest(ask.part(), ask.stream(), ask.streamName(), batch.after());
    }
    return last;
  }
}
