package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.job.ClaimAsk;
import dev.lockstep.job.ClaimToken;
import dev.lockstep.job.ClaimedJob;
import dev.lockstep.job.Claims;
import dev.lockstep.job.EnqueueResult;
import dev.lockstep.job.Handlers;
import dev.lockstep.job.JobHandler;
import dev.lockstep.job.JobId;
import dev.lockstep.job.JobState;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.JobsConfig;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.Outcome;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.job.Worker;
import dev.lockstep.job.WorkerConfig;
import dev.lockstep.server.Exploration.Act;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Everything that can be done to a job, in each of its states, against the diagram in
 * docs/concepts.md. What a handler says is tried twice: on a claimed job, and in a worker.
 */
@Timeout(120)
class JobStatesTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final String KIND = "pack";
  private static final String CLAIMER = "ann";
  private static final Duration LATER = Duration.ofHours(1);

  private static final Outcome RETRY = new Outcome.Retry("not now", Optional.of(LATER));
  private static final List<Outcome> OUTCOMES =
      List.of(
          Outcome.done(),
          RETRY,
          new Outcome.Snooze(LATER),
          new Outcome.Cancel(),
          new Outcome.Dead("never"));

  private final Transactor transactor = new Transactor(database.dataSource());
  private final Jobs jobs = new Jobs(transactor, JobsConfig.DEFAULT.withHistoryDays(1));
  private final Claims claims = jobs.claims();
  private final CountDownLatch enough = new CountDownLatch(1);
  private final List<Worker> workers = new ArrayList<>();

  /** A job, in a queue of its own. */
  private static final class Specimen {
    private static final AtomicInteger queues = new AtomicInteger();

    final String queue = "queue-" + queues.incrementAndGet();
    Optional<JobId> id = Optional.empty();
    Optional<ClaimToken> token = Optional.empty();
  }

  @AfterEach
  void stopWorkers() {
    enough.countDown();
    workers.forEach(Worker::close);
  }

  @Test
  void aJobMovesAsItsDiagramShows() throws Exception {
    assertThat(OUTCOMES)
        .as("everything that a handler can say")
        .extracting(Object::getClass)
        .containsExactlyInAnyOrder(Outcome.class.getPermittedSubclasses());
    StateDiagram diagram = StateDiagram.of("job", JobState.values());
    Exploration<Specimen> exploration = new Exploration<>(diagram, Specimen::new, this::state);
    exploration.explore(acts());
    for (Outcome outcome : OUTCOMES) {
      exploration.tried("READY", name(outcome), one -> work(one, outcome));
    }
    exploration.tried("READY", "a worker marks it", this::workUntilMarked);
    diagram.checkPage();
  }

  private static String name(Outcome outcome) {
    return outcome.getClass().getSimpleName();
  }

  private Map<String, Act<Specimen>> acts() {
    Map<String, Act<Specimen>> acts = new LinkedHashMap<>();
    acts.put("enqueue for later", one -> enqueue(one, newJob(one).at(Instant.now().plus(LATER))));
    acts.put("enqueue", one -> enqueue(one, newJob(one)));
    acts.put("its time comes", one -> update(one, "due = now() - interval '1 second'"));
    acts.put("claim", this::claim);
    for (Outcome outcome : OUTCOMES) {
      // A claimed job is cancelled by Jobs.cancel.
      if (!(outcome instanceof Outcome.Cancel)) {
        acts.put(name(outcome), one -> end(one, outcome));
      }
    }
    acts.put(
        "last Retry",
        one -> {
          update(one, "max_attempts = attempts + 1");
          end(one, RETRY);
        });
    acts.put("giveBack", one -> claims.giveBack(one.token.stream().toList()));
    acts.put("its lease passes", this::lease);
    acts.put(
        "last lease passes",
        one -> {
          update(one, "max_attempts = attempts + 1");
          lease(one);
        });
    acts.put("runNow", one -> edit(one, (c, id) -> jobs.runNow(c, id, OptionalInt.empty())));
    acts.put(
        "runAt",
        one ->
            edit(
                one, (c, id) -> jobs.runAt(c, id, OptionalInt.empty(), Instant.now().plus(LATER))));
    acts.put("payload", one -> edit(one, (c, id) -> jobs.payload(c, id, OptionalInt.empty(), "2")));
    acts.put("cancel", one -> edit(one, (c, id) -> jobs.cancel(c, id, OptionalInt.empty())));
    acts.put("replay", one -> edit(one, jobs::replay));
    acts.put("discard", one -> edit(one, jobs::discard));
    return acts;
  }

  private String state(Specimen one) {
    return one.id
        .map(id -> jobs.find(id).map(job -> job.state().name()).orElse(StateDiagram.DELETED))
        .orElse(StateDiagram.NEW);
  }

  private static NewJob newJob(Specimen one) {
    return NewJob.of(one.queue, KIND, "1");
  }

  private void enqueue(Specimen one, NewJob job) {
    if (one.id.isEmpty()) {
      EnqueueResult enqueued = transactor.call(c -> jobs.enqueue(c, job));
      one.id = Optional.of(((EnqueueResult.Created) enqueued).id());
    }
  }

  private void claim(Specimen one) {
    claims.claim(one.queue, List.of(new ClaimAsk(CLAIMER, 1, LATER))).jobs().get(0).stream()
        .map(ClaimedJob::token)
        .forEach(token -> one.token = Optional.of(token));
  }

  private void end(Specimen one, Outcome outcome) {
    one.token.ifPresent(token -> transactor.run(c -> claims.end(c, token, CLAIMER, outcome)));
  }

  private void lease(Specimen one) {
    database.execute(
        "UPDATE lockstep.job_claim SET expires_at = now() - interval '1 second' WHERE queue = '%s'"
            .formatted(one.queue));
    claims.expire();
  }

  /** What an operator or the job's own application does to it. */
  private interface Edit {
    Object by(Connection connection, JobId id);
  }

  private void edit(Specimen one, Edit edit) {
    one.id.ifPresent(id -> transactor.run(c -> edit.by(c, id)));
  }

  private static void update(Specimen one, String assignment) {
    database.execute(
        "UPDATE lockstep.job SET %s WHERE queue = '%s'".formatted(assignment, one.queue));
  }

  /** In a worker, which writes nothing when it begins a job: the job is still shown as READY. */
  private void work(Specimen one, Outcome outcome) throws Exception {
    AtomicReference<String> whileRunning = new AtomicReference<>("");
    JobHandler<String> handler =
        (payload, job) -> {
          whileRunning.set(state(one));
          return outcome;
        };
    start(one, LATER, handler);
    Await.until("the result is written", () -> !state(one).equals("READY"));
    assertThat(whileRunning.get()).isEqualTo("READY");
  }

  private void workUntilMarked(Specimen one) throws Exception {
    JobHandler<String> handler =
        (payload, job) -> {
          enough.await();
          return Outcome.done();
        };
    start(one, Duration.ofMillis(10), handler);
    Await.until("it is marked", () -> !state(one).equals("READY"));
  }

  private void start(Specimen one, Duration markAfter, JobHandler<String> handler) {
    WorkerConfig config =
        WorkerConfig.named("node")
            .withQueue(QueueConfig.of(one.queue, 1))
            .withPollInterval(Duration.ofMillis(20))
            .withMarkAfter(markAfter);
    workers.forEach(Worker::close);
    workers.clear();
    workers.add(jobs.worker(config, Handlers.none().on(KIND, handler)));
  }
}
