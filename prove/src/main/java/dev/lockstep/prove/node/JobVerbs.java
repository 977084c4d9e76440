package dev.lockstep.prove.node;

import dev.lockstep.job.EditResult;
import dev.lockstep.job.EnqueueResult;
import dev.lockstep.job.Handlers;
import dev.lockstep.job.Job;
import dev.lockstep.job.JobContext;
import dev.lockstep.job.JobFilter;
import dev.lockstep.job.JobId;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.JobsConfig;
import dev.lockstep.job.LocalTimes;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.NewJob.UniqueKey;
import dev.lockstep.job.NewSchedule;
import dev.lockstep.job.Outcome;
import dev.lockstep.job.Priority;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.job.Recurrence;
import dev.lockstep.job.Schedule;
import dev.lockstep.job.ScheduleId;
import dev.lockstep.job.Schedules;
import dev.lockstep.job.Worker;
import dev.lockstep.job.WorkerConfig;
import dev.lockstep.prove.history.Fields;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Jobs. A handler reports the interval of the database's clock during which it certainly held its
 * lease; its effect is a row of a table that has no key.
 */
final class JobVerbs implements AutoCloseable {
  private static final String QUEUE = "prove";
  private static final String KIND = "prove";
  private static final String CLOCK = "SELECT clock_timestamp()";
  private static final String EFFECT =
      "INSERT INTO prove.done (job, name, run, due) VALUES (?, ?, ?, ?)";
  private static final String EFFECTS =
      """
      SELECT job, name, run, due, (extract(epoch FROM at) * 1000000)::bigint FROM prove.done
      WHERE name LIKE ? ORDER BY at""";

  private final Transactor transactor;
  private final Pipe pipe;
  private final Jobs jobs;
  private final Schedules schedules;
  private final Worker worker;

  JobVerbs(Transactor transactor, NodeSettings settings, Pipe pipe) {
    this.transactor = transactor;
    this.pipe = pipe;
    this.jobs = new Jobs(transactor, JobsConfig.DEFAULT.withShards(8));
    this.schedules = jobs.schedules(JobVerbs::everySecond, JobVerbs::occurrence);
    Handlers handlers = schedules.handlers(Handlers.none().on(KIND, this::handle));
    QueueConfig queue =
        QueueConfig.of(QUEUE, 4).withBackoff(Duration.ofMillis(50), Duration.ofMillis(400));
    this.worker =
        jobs.worker(
            WorkerConfig.named(settings.name())
                .withQueue(queue)
                .withQueue(QueueConfig.of(Schedules.QUEUE, 1))
                .withLease(settings.lease(), settings.lease().dividedBy(4))
                .withPollInterval(Duration.ofMillis(200))
                .withMarkAfter(Duration.ofMillis(400))
                .withMaxCrashes(100)
                .withStopTimeout(Duration.ofSeconds(2)),
            handlers);
  }

  private static Recurrence everySecond(String spec) {
    LocalTimes times =
        after -> Optional.of(after.truncatedTo(ChronoUnit.SECONDS).plusSeconds(seconds(spec)));
    return new Recurrence(times, ZoneOffset.UTC, Recurrence.Gap.NEXT, Recurrence.Overlap.FIRST);
  }

  /** The job's content names its occurrence, because a retry changes its due time. */
  private static NewJob occurrence(NewJob job, Instant at) {
    Fields content = content(job.payload()).with("at", HoldVerbs.micros(at));
    return NewJob.of(job.queue(), job.kind(), '"' + content.line() + '"')
        .withMaxAttempts(job.maxAttempts());
  }

  private static Fields content(String payload) {
    return Fields.parse(payload.substring(1, payload.length() - 1));
  }

  private static long seconds(String spec) {
    return Long.parseLong(spec);
  }

  Jobs jobs() {
    return jobs;
  }

  Map<String, Verb> verbs() {
    Map<String, Verb> verbs = new HashMap<>();
    verbs.put("job.enqueue", this::enqueue);
    verbs.put("job.cancel", this::cancel);
    verbs.put("job.schedule", this::schedule);
    verbs.put("job.unschedule", this::unschedule);
    verbs.put("final.done", this::done);
    verbs.put("final.left", this::left);
    return verbs;
  }

  /** A job of the prover: its name, how often it fails, and how long it runs. */
  static NewJob newJob(Fields f) {
    Fields content = Fields.of("name", f.text("name"));
    for (String each : List.of("fails", "ms")) {
      content = content.with(each, f.number(each, 0));
    }
    NewJob job = NewJob.of(QUEUE, KIND, '"' + content.line() + '"').withMaxAttempts(1_000);
    if (f.has("lane")) {
      job = job.inLane(f.text("lane"));
    }
    if (f.has("priority")) {
      job = job.withPriority(Priority.valueOf(f.text("priority")));
    }
    if (f.has("unique")) {
      job = job.withUnique(UniqueKey.whileLive(f.text("unique")));
    }
    return job;
  }

  private Answer enqueue(Fields f) {
    EnqueueResult result = transactor.call(connection -> jobs.enqueue(connection, newJob(f)));
    if (result instanceof EnqueueResult.Created accepted) {
      return Answer.ok("job", accepted.id());
    }
    return Answer.refused("Duplicate", "existing", ((EnqueueResult.Duplicate) result).existing());
  }

  private Answer cancel(Fields f) {
    JobId id = JobId.of(f.text("job"));
    var result = transactor.call(connection -> jobs.cancel(connection, id, OptionalInt.empty()));
    String name = result.getClass().getSimpleName();
    return result instanceof EditResult.Edited ? Answer.ok("result", name) : Answer.refused(name);
  }

  private Answer schedule(Fields f) {
    NewSchedule schedule =
        new NewSchedule(f.text("name"), f.text("every"), newJob(f), Recurrence.CatchUp.ALL);
    Schedule made = transactor.call(connection -> schedules.create(connection, schedule));
    return Answer.ok(
        "schedule", made.id().value(), "next", HoldVerbs.micros(made.nextAt().orElseThrow()));
  }

  private Answer unschedule(Fields f) {
    ScheduleId id = new ScheduleId(UUID.fromString(f.text("schedule")));
    return Answer.ok(
        "result",
        transactor
            .call(connection -> schedules.delete(connection, id, OptionalInt.empty()))
            .getClass()
            .getSimpleName());
  }

  /** Runs a job: fails as often as it is told, then writes its effect with its completion. */
  private Outcome handle(String payload, JobContext job) throws Exception {
    Fields content = content(payload);
    String run = UUID.randomUUID().toString();
    long begin = clock();
    if (!job.holdsLease()) {
      return new Outcome.Retry("the lease is gone");
    }
    Fields report =
        Fields.of("job", job.id(), "name", content.text("name"), "run", run, "from", begin);
    pipe.tell("job.began", report);
    TimeUnit.MILLISECONDS.sleep(content.number("ms"));
    long last = clock();
    // The order matters: the lease is held now, so it was held when the clock was read.
    if (job.holdsLease()) {
      pipe.tell("job.held", report.with("to", last));
    }
    if (job.attempt() <= content.number("fails")) {
      return new Outcome.Retry("told to fail");
    }
    return Outcome.Done.writing(connection -> effect(connection, job, content, run));
  }

  private long clock() throws SQLException {
    return transactor.call(
        connection -> {
          try (Statement statement = connection.createStatement();
              ResultSet row = statement.executeQuery(CLOCK)) {
            row.next();
            return HoldVerbs.micros(row.getTimestamp(1).toInstant());
          }
        });
  }

  private static void effect(Connection connection, JobContext job, Fields content, String run)
      throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(EFFECT)) {
      insert.setString(1, job.id().toString());
      insert.setString(2, content.text("name"));
      insert.setString(3, run);
      insert.setLong(4, content.number("at", HoldVerbs.micros(job.due())));
      insert.executeUpdate();
    }
  }

  private Answer done(Fields f) {
    List<String> all =
        transactor.call(
            connection -> {
              List<String> found = new ArrayList<>();
              try (PreparedStatement select = connection.prepareStatement(EFFECTS)) {
                select.setString(1, f.text("prefix") + "%");
                try (ResultSet row = select.executeQuery()) {
                  while (row.next()) {
                    found.add(
                        "%s;%s;%s;%d;%d"
                            .formatted(
                                row.getString(1),
                                row.getString(2),
                                row.getString(3),
                                row.getLong(4),
                                row.getLong(5)));
                  }
                }
              }
              return found;
            });
    return Answer.ok("done", String.join(",", all));
  }

  /** Jobs that contain the text and still exist, dead ones included. */
  private Answer left(Fields f) {
    JobFilter filter = JobFilter.ALL.inQueue(QUEUE).containing(f.text("text"));
    List<String> left = new ArrayList<>();
    for (Job job : jobs.list(filter, Optional.empty(), Jobs.MAX_PAGE)) {
      left.add(job.id() + ":" + job.state());
    }
    return Answer.ok("left", String.join(",", left));
  }

  @Override
  public void close() {
    worker.close();
  }
}
