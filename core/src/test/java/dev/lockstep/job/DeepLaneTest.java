package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.job.Task.TaskEnd;
import dev.lockstep.shard.Lease;
import dev.lockstep.testkit.TestDatabase;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Many jobs of one lane, of which one runs at a time: how deep the lane is does not matter to what
 * it takes to run one of them, nor to the other jobs of its shard.
 */
class DeepLaneTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private final JobIds ids = new JobIds(Clock.systemUTC(), Desk.SHARDS);
  private final List<String> ran = new ArrayList<>();

  @Test
  void whatIsReadForAJobDoesNotGrowWithTheDepthOfItsLane() {
    copy(20_000, "deep");

    owning(
        reader -> {
          reader.run(400);
          assertThat(reader.rows).isLessThan(4 * 400 + 1_000);
          assertThat(reader.looks).isLessThan(100);
        });

    assertThat(ran).isEqualTo(numbers(400));
  }

  @Test
  void othersOfTheShardAreFoundBehindADeepLaneInAFewLooks() {
    copy(30_000, "deep");
    copy(1, another(0));
    copy(1, another(1));

    owning(
        reader -> {
          Task first = reader.begin();
          List<Task> others = List.of(reader.begin(), reader.begin());
          assertThat(reader.looks).isLessThan(15);
          assertThat(first.row.lane()).isEqualTo("deep");
          assertThat(others)
              .extracting(task -> task.row.lane())
              .containsExactly(another(0), another(1));
        });
  }

  @Test
  void othersThatComeLaterDoNotWaitUntilTheLaneIsReadThroughAgain() {
    copy(30_000, "deep");

    owning(
        reader -> {
          assertThat(reader.begin().row.lane()).isEqualTo("deep");
          reader.readAll();
          for (int i = 0; i < 5; i++) {
            copy(1, another(i));
            reader.rows = 0;
            reader.looks = 0;
            assertThat(reader.begin().row.lane()).isEqualTo(another(i));
            assertThat(reader.rows).isLessThan(100);
            assertThat(reader.looks).isLessThan(10);
          }
        });
  }

  @Test
  void aPassRestsTheLongerTheMoreItReadInVain() {
    assertThat(JobStream.rest(100)).isZero();
    assertThat(JobStream.rest(1_000)).isEqualTo(Duration.ofMillis(100));
    assertThat(JobStream.rest(1_000_000)).isEqualTo(Duration.ofSeconds(100));
  }

  @Test
  void manyDeepLanesLeaveRoomForOthers() {
    int lanes = 50;
    String[] names =
        Stream.concat(Stream.of("deep"), IntStream.range(1, lanes).mapToObj(this::another))
            .toArray(String[]::new);
    copy(lanes * 100, names);
    copy(1, another(lanes));

    owning(
        reader -> {
          for (int i = 0; i < lanes; i++) {
            assertThat(reader.begin().row.lane()).isEqualTo(names[i]);
          }
          assertThat(reader.begin().row.lane()).isEqualTo(another(lanes));
          assertThat(reader.looks).isLessThan(30);
        });
  }

  @Test
  void manyDeepLanesRunInTurnAndInOrder() {
    int lanes = 30;
    String[] names =
        Stream.concat(Stream.of("deep"), IntStream.range(1, lanes).mapToObj(this::another))
            .toArray(String[]::new);
    copy(lanes * 100, names);

    owning(reader -> reader.run(lanes * 100));

    for (int lane = 0; lane < lanes; lane++) {
      int of = lane;
      assertThat(ran.stream().filter(n -> Integer.parseInt(n) % lanes == of))
          .containsExactlyElementsOf(
              IntStream.range(0, 100).mapToObj(i -> "" + (of + i * lanes)).toList());
    }
  }

  @Test
  void aLaneIsForgottenWithTheLastOfItsJobs() {
    JobId id = desk.enqueue(Desk.job(1).inLane("short"));
    desk.withLease(
        id,
        (lease, shards) -> {
          Task task = desk.read(lease);
          LaneState lane = task.stream.lanes.get("short");
          task.stream.add(task);
          assertThat(lane.enter(1)).isTrue();
          assertThat(task.stream.lanes.get("short")).isSameAs(lane);

          assertThat(task.stream.leave(new TaskEnd(task, -1, false), next -> {})).isFalse();
          // Else all lanes of a long pass would be in memory, and share the room with those that
          // are deep.
          assertThat(task.stream.lanes.get("short")).isNotSameAs(lane);
        });
  }

  /** A worker's reader and runner, step by step. */
  private final class Reader {
    private final WorkerMemory memory =
        new WorkerMemory(List.of(Desk.queue(100)), TaskState.Observer.NONE);
    private final QueueState queue = memory.queue(Desk.QUEUE);
    private final JobReads reads = new JobReads(desk.transactor(), JobsListener.NONE);
    private int looks;
    private int rows;

    Reader(Lease lease) {
      memory.addShard(lease);
      memory.examined(List.of(lease), List.of());
    }

    /** True if there is more to be read at once. */
    boolean read() {
      JobReads.ReadPlan plan = memory.startRead();
      JobReads.TableRead table = reads.read(plan);
      memory.offer(plan, table);
      looks++;
      int before = rows;
      table.due().forEach(found -> rows += found.rows().size());
      table.lanes().forEach(found -> rows += found.size());
      return rows > before;
    }

    void readAll() {
      boolean more = true;
      while (more) {
        more = read();
      }
    }

    /** Reads until something may begin, and begins it. */
    Task begin() {
      Task task = queue.poll();
      for (int i = 0; task == null; i++) {
        assertThat(i).as("looks in vain").isLessThan(300);
        read();
        task = queue.poll();
      }
      assertThat(task.begin()).isTrue();
      queue.begun(task);
      return task;
    }

    void run(int count) {
      for (int i = 0; i < count; i++) {
        Task task = begin();
        ran.add(task.row.payload());
        database.execute("DELETE FROM lockstep.job WHERE id = '" + task.row.id() + "'");
        memory.ended(List.of(new TaskEnd(task, -1, false)));
      }
    }
  }

  private void owning(Consumer<Reader> test) {
    JobId inTheShard = ids.nextFor(Desk.QUEUE, "deep");
    desk.withLease(inTheShard, (lease, shards) -> test.accept(new Reader(lease)));
  }

  /** Lanes of the same shard as the deep one. */
  private String another(int number) {
    int shard = ids.shardOf(Desk.QUEUE, "deep");
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> "other-" + i)
        .filter(name -> ids.shardOf(Desk.QUEUE, name) == shard)
        .skip(number)
        .findFirst()
        .orElseThrow();
  }

  /** Jobs 0, 1, 2 …, in these lanes in turn. */
  private void copy(int count, String... lanes) {
    Jobs jobs = desk.jobs();
    Iterator<NewJob> batch =
        IntStream.range(0, count)
            .mapToObj(i -> Desk.job(i).inLane(lanes[i % lanes.length]))
            .iterator();
    desk.transactor().run(connection -> jobs.copy(connection, batch));
  }

  private static List<String> numbers(int count) {
    return IntStream.range(0, count).mapToObj(String::valueOf).toList();
  }
}
