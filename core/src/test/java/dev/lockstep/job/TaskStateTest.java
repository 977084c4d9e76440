package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Real jobs make each move that {@link TaskState} allows, and no other. */
class TaskStateTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private static final int EACH_SHARD = 4 * Desk.SHARDS;

  private record Move(TaskState from, TaskState to) {}

  private final Set<Move> moves = ConcurrentHashMap.newKeySet();
  private final Set<Object> locked = ConcurrentHashMap.newKeySet();
  private final CountDownLatch go = new CountDownLatch(1);

  @AfterEach
  void letJobsEnd() {
    go.countDown();
  }

  @Test
  void jobsOfALaneWaitAreReadyRunAndEnd() {
    desk.enqueue(Desk.job(1).inLane("lane"));
    desk.enqueue(Desk.job(2).inLane("lane"));
    start(1, desk::note);

    desk.awaitNoneLive();
    await(TaskState.RUNNING, TaskState.ENDED);

    assertMoves(
        new Move(TaskState.WAITING, TaskState.READY),
        new Move(TaskState.READY, TaskState.RUNNING),
        new Move(TaskState.RUNNING, TaskState.ENDED));
  }

  @Test
  void aHandOverGivesBackWhatHasNotBegunAndTheRestRunsOn() {
    for (int i = 0; i < EACH_SHARD; i++) {
      desk.enqueue(Desk.job(i));
    }
    start(EACH_SHARD, this::blocked);
    Await.until("all run", () -> desk.ran.size() == EACH_SHARD);
    for (int i = 0; i < EACH_SHARD; i++) {
      desk.enqueue(Desk.job("\"ready\"").inLane("lane " + i));
      desk.enqueue(Desk.job("\"waiting\"").inLane("lane " + i));
    }
    await(TaskState.WAITING, TaskState.READY);

    join();
    await(TaskState.RUNNING, TaskState.HANDED_OVER);
    await(TaskState.READY, TaskState.ENDED);
    await(TaskState.WAITING, TaskState.ENDED);
    go.countDown();
    await(TaskState.HANDED_OVER, TaskState.ENDED);
    desk.awaitNoneLive();

    assertMoves(
        new Move(TaskState.WAITING, TaskState.READY),
        new Move(TaskState.WAITING, TaskState.ENDED),
        new Move(TaskState.READY, TaskState.RUNNING),
        new Move(TaskState.READY, TaskState.ENDED),
        new Move(TaskState.RUNNING, TaskState.HANDED_OVER),
        new Move(TaskState.RUNNING, TaskState.ENDED),
        new Move(TaskState.HANDED_OVER, TaskState.ENDED));
  }

  @Test
  void aLockedResultWaitsAndIsThenWrittenOrHandedOver() throws SQLException {
    enqueueKeyed();
    try (Connection other = lockKeys()) {
      start(EACH_SHARD, desk::note);
      // Those of every shard, whichever it hands over.
      Await.until("all are locked", () -> locked.size() == EACH_SHARD);
      join();
      await(TaskState.LOCKED, TaskState.HANDED_OVER);
      other.rollback();
    }
    desk.awaitNoneLive();
    await(TaskState.LOCKED, TaskState.ENDED);
    await(TaskState.HANDED_OVER, TaskState.ENDED);

    assertMoves(
        new Move(TaskState.WAITING, TaskState.READY),
        new Move(TaskState.READY, TaskState.RUNNING),
        new Move(TaskState.RUNNING, TaskState.LOCKED),
        new Move(TaskState.LOCKED, TaskState.HANDED_OVER),
        new Move(TaskState.LOCKED, TaskState.ENDED),
        new Move(TaskState.HANDED_OVER, TaskState.ENDED));
  }

  @Test
  void aWorkerThatLosesItsLeaseLosesItsJobs() throws SQLException {
    enqueueKeyed();
    try (Connection other = lockKeys()) {
      start(
          EACH_SHARD,
          (payload, job) -> payload.equals("0") ? blocked(payload, job) : desk.note(payload, job));
      await(TaskState.RUNNING, TaskState.LOCKED);
      database.execute("DELETE FROM lockstep.shard_member");
      await(TaskState.LOCKED, TaskState.LOST);
      await(TaskState.RUNNING, TaskState.LOST);
      other.rollback();
    }
    go.countDown();
    await(TaskState.LOST, TaskState.ENDED);
    desk.awaitNoneLive();

    assertMoves(
        new Move(TaskState.RUNNING, TaskState.LOST),
        new Move(TaskState.LOCKED, TaskState.LOST),
        new Move(TaskState.LOST, TaskState.ENDED));
  }

  @Test
  void theTableHasOnlyTheMovesThatTheseTestsSee() {
    assertThat(
            Arrays.stream(TaskState.values())
                .flatMap(
                    from ->
                        Arrays.stream(TaskState.values())
                            .filter(from::canBecome)
                            .map(to -> from + " " + to))
                .collect(Collectors.toSet()))
        .containsExactlyInAnyOrder(
            "WAITING READY",
            "WAITING ENDED",
            "READY RUNNING",
            "READY ENDED",
            "RUNNING LOCKED",
            "RUNNING HANDED_OVER",
            "RUNNING LOST",
            "RUNNING ENDED",
            "LOCKED HANDED_OVER",
            "LOCKED LOST",
            "LOCKED ENDED",
            "HANDED_OVER ENDED",
            "LOST ENDED");
  }

  @Test
  void aMoveOutsideTheTableThrows() {
    JobId id = desk.enqueue(Desk.job(1));
    desk.withLease(
        id,
        (lease, shards) -> {
          Task task = desk.read(lease);
          task.ready();

          assertThatThrownBy(task::ready).isInstanceOf(IllegalStateException.class);
          assertThat(task.begin()).isTrue();
          assertThat(task.giveBack()).as("it has begun").isFalse();
          assertThat(task.end()).isTrue();
          task.handOver();
          task.lose();
          assertThat(task.is(TaskState.ENDED)).isTrue();
        });
  }

  private void start(int concurrency, JobHandler<String> handler) {
    desk.startObserved(
        Desk.worker(concurrency),
        handler,
        (job, from, to) -> {
          moves.add(new Move(from, to));
          if (to == TaskState.LOCKED) {
            locked.add(job);
          }
        });
  }

  /** A second worker, which takes half the shards. */
  private void join() {
    desk.start(4, desk::note);
  }

  private Outcome blocked(String payload, JobContext job) throws InterruptedException {
    desk.ran.add(payload);
    assertThat(go.await(60, TimeUnit.SECONDS)).isTrue();
    return Outcome.done();
  }

  /** Jobs with unique keys, in all shards. */
  private void enqueueKeyed() {
    for (int i = 0; i < EACH_SHARD; i++) {
      desk.enqueue(Desk.job(i).withUnique(NewJob.UniqueKey.whileLive("key " + i)));
    }
  }

  private static Connection lockKeys() throws SQLException {
    Connection other = database.connection();
    other.setAutoCommit(false);
    try (var statement = other.createStatement()) {
      statement.execute("SELECT 1 FROM lockstep.job_unique FOR UPDATE");
    }
    return other;
  }

  private void await(TaskState from, TaskState to) {
    Await.until(from + " to " + to, () -> moves.contains(new Move(from, to)));
  }

  /** A busy machine may add some, all of them allowed. */
  private void assertMoves(Move... expected) {
    assertThat(moves).contains(expected).allMatch(move -> move.from().canBecome(move.to()));
  }
}
