package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import java.time.Clock;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which jobs count as running when their worker died, and what is left of those that went on. */
class SuspectsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private static final String DEEP = "deep";

  // As many jobs as recovery suspects of a queue and priority, and one.
  private static final int DEPTH = 5 * JobStream.MAX_KNOWN + 1;

  // With eleven parameters each, more than a round trip takes.
  private static final int STRAGGLERS = 6_000;

  private final JobIds ids = new JobIds(Clock.systemUTC(), Desk.SHARDS);

  /** Its worker read past the lane. If it were not a suspect, it would kill one after the other. */
  @Test
  void aJobBehindADeepLaneIsASuspectToo() {
    desk.transactor()
        .run(
            c ->
                desk.jobs()
                    .copy(
                        c,
                        IntStream.range(0, DEPTH)
                            .mapToObj(i -> Desk.job(i).inLane(DEEP))
                            .iterator()));
    JobId behind = desk.enqueue(Desk.job("\"behind\""));
    while (behind.shard() != ids.shardOf(Desk.QUEUE, DEEP)) {
      behind = desk.enqueue(Desk.job("\"behind\""));
    }

    desk.withLease(
        behind,
        (lease, shards) ->
            new ShardRecovery(desk.transactor(), shards, ids, 3).suspectRunningJobs(lease));

    assertThat(database.queryLong("SELECT crashes FROM lockstep.job WHERE id = ?", behind.value()))
        .isEqualTo(1);
    assertThat(
            database.query(
                "SELECT payload::text FROM lockstep.job WHERE lane IS NOT NULL AND crashes = 1"
                    + " ORDER BY due, id",
                row -> row.getString(1)))
        .as("the one that may have run, and the next")
        .containsExactly("0", "1");
  }

  /** Until the records are gone, their lanes stand still at other nodes. */
  @Test
  void recordsOfAnyNumberOfStragglersAreRemoved() {
    JobId id = desk.enqueue(Desk.job(1).inLane(DEEP));
    desk.withLease(
        id,
        (lease, shards) -> {
          Task one = desk.read(lease);
          List<Task> ended =
              IntStream.range(0, STRAGGLERS)
                  .mapToObj(i -> new Task(one.row, one.stream, System.nanoTime()))
                  .toList();
          ended.forEach(Task::end);
          StragglerTable table = new StragglerTable(desk.transactor());
          table.recorded(ended);

          table.removeEnded();

          assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_away")).isZero();
        });
  }
}
