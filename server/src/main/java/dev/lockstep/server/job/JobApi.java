package dev.lockstep.server.job;

import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.job.EditResult;
import dev.lockstep.job.Job;
import dev.lockstep.job.JobFilter;
import dev.lockstep.job.JobId;
import dev.lockstep.job.JobState;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.Schedules;
import dev.lockstep.server.act.Act;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Endpoint.IfMatch;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.ProblemException;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.Workers;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Jobs over HTTP: listed, shown, retried and cancelled, one or all that match. */
final class JobApi {
  /** The most that one request changes; larger changes take several. */
  static final int MAX_BULK = Jobs.MAX_BATCH;

  /** Counting stops here. */
  private static final int MAX_COUNT = 1_000_000;

  private static final Shape TEXT = Shape.text(1, 200);

  /** Said when a job ended between being read and being edited. */
  private static final String ENDED = "It has just ended.";

  private static final ObjectShape FILTER =
      Shape.object().optional("queue", TEXT).optional("kind", TEXT).optional("text", TEXT);

  private static final ObjectShape COUNTED =
      Shape.object()
          .optional("dryRun", Shape.bool())
          .optional("reason", Act.WHY)
          .optional("expected", Shape.integer(0, MAX_COUNT));

  private static final ObjectShape BULK_RETRY = COUNTED.required("filter", FILTER);
  private static final ObjectShape BULK_CANCEL =
      COUNTED.required(
          "filter",
          FILTER.optional("state", Shape.choice("scheduled", "ready", "running", "dead")));

  private static final ObjectShape BULK_ANSWER =
      Shape.object()
          .required("matched", Shape.integer(0, MAX_COUNT))
          .required("changed", Shape.integer(0, MAX_BULK));

  private static final ObjectShape CANCELLED =
      Shape.object().required("id", Shape.text(1, 64)).required("state", Shape.choice("cancelled"));

  private final Transactor transactor;
  private final Jobs jobs;
  private final Workers workers;

  JobApi(Transactor transactor, Jobs jobs, Workers workers) {
    this.transactor = transactor;
    this.jobs = jobs;
    this.workers = workers;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(GET, "/v1/jobs", "Lists jobs, newest first.")
            .by(Role.OPERATOR)
            .withQuery("queue", "Only jobs of this queue.")
            .withQuery("kind", "Only jobs of this kind.")
            .withQuery("state", "Only jobs in this state: scheduled, ready, running, dead or done.")
            .withQuery("text", "Only jobs with this text in their payload.")
            .paged(JobJson.ITEM)
            .handledBy(this::list),
        Endpoint.of(GET, "/v1/jobs/{id}", "Shows a job with its attempts.")
            .by(Role.OPERATOR)
            .answering(200, JobJson.DETAIL)
            .handledBy(this::show),
        Endpoint.of(
                POST,
                "/v1/jobs/{id}/retry",
                "Runs a job now: a dead one again, a scheduled one early.")
            .by(Role.OPERATOR)
            .withIfMatch(IfMatch.OPTIONAL)
            .perhapsTaking(Act.REASON)
            .answering(200, JobJson.DETAIL)
            .handledBy(this::retry),
        Endpoint.of(
                POST,
                "/v1/jobs/{id}/cancel",
                "Removes a job; a running attempt's result is refused.")
            .by(Role.OPERATOR)
            .withIfMatch(IfMatch.OPTIONAL)
            .perhapsTaking(Act.REASON)
            .answering(200, CANCELLED)
            .handledBy(this::cancel),
        Endpoint.of(POST, "/v1/jobs/retry", "Retries the dead jobs that match; counts first.")
            .by(Role.OPERATOR)
            .taking(BULK_RETRY)
            .answering(200, BULK_ANSWER)
            .handledBy(
                request ->
                    bulk(
                        request,
                        "retry jobs",
                        (c, state, filter) -> jobs.countDead(c, filter, MAX_COUNT),
                        (c, state, filter) -> jobs.replayAll(c, filter, MAX_BULK))),
        Endpoint.of(POST, "/v1/jobs/cancel", "Removes the jobs that match; counts first.")
            .by(Role.OPERATOR)
            .taking(BULK_CANCEL)
            .answering(200, BULK_ANSWER)
            .handledBy(
                request ->
                    bulk(
                        request,
                        "cancel jobs",
                        (c, state, filter) -> jobs.countCancellable(c, state, filter, MAX_COUNT),
                        (c, state, filter) -> jobs.cancelAll(c, state, filter, MAX_BULK))));
  }

  private Future<Answer> list(Request request) {
    Page page = request.page();
    Optional<JobState> state = request.query("state", JobJson.STATE).map(JobJson::state);
    JobFilter filter =
        new JobFilter(
            request.query("queue", TEXT), request.query("kind", TEXT), request.query("text", TEXT));
    Optional<JobId> before = page.after(JobId::of);
    int limit = page.limit() + 1;
    return workers.read(
        request,
        () ->
            Answer.ok(
                page.of(
                    jobs.overview(state, filter, before, limit),
                    JobJson::item,
                    job -> job.id().toString())));
  }

  private Future<Answer> show(Request request) {
    JobId id = id(request);
    return workers.read(request, () -> detail(id));
  }

  private Answer detail(JobId id) {
    Job job = find(id);
    return Answer.ok(JobJson.detail(job, jobs.attempts(id))).withVersion(job.version());
  }

  private Future<Answer> retry(Request request) {
    JobId id = id(request);
    Act act = Act.of(request, "retry job", id.toString());
    return workers.run(
        () -> {
          Job job = find(id);
          request.requireMatch(job.version());
          switch (job.state()) {
            case DEAD -> {
              if (!transactor.call(c -> recorded(c, act, jobs.replay(c, id)))) {
                throw Edits.notNow("job-changed", "Somebody has brought it back or removed it.")
                    .asException();
              }
            }
            case SCHEDULED, READY ->
                requireEdited(
                    transactor.call(
                        c -> recorded(c, act, jobs.runNow(c, id, OptionalInt.of(job.version())))),
                    ENDED);
            case RUNNING -> throw Edits.notNow("job-running", "It is running now.").asException();
            case DONE ->
                throw Edits.notNow("job-done", "It is done and cannot run again.").asException();
          }
          return detail(id);
        });
  }

  private Future<Answer> cancel(Request request) {
    JobId id = id(request);
    Act act = Act.of(request, "cancel job", id.toString());
    return workers.run(
        () -> {
          Job job = find(id);
          request.requireMatch(job.version());
          if (job.queue().equals(Schedules.QUEUE)) {
            // Including one that is done or dead.
            throw Edits.ofSchedule().asException();
          }
          if (job.state() == JobState.DONE) {
            throw Edits.notNow("job-done", "It is done.").asException();
          }
          if (job.state() == JobState.DEAD) {
            requireEdited(
                transactor.call(c -> recorded(c, act, jobs.discard(c, id))),
                "Somebody has retried or removed it.");
          } else {
            OptionalInt version = Edits.namedVersion(request, job.version());
            requireEdited(
                transactor.call(c -> recorded(c, act, jobs.cancel(c, id, version))), ENDED);
          }
          return Answer.ok(new JsonObject().put("id", id.toString()).put("state", "cancelled"));
        });
  }

  /** One step of a bulk change, in the caller's transaction. */
  @FunctionalInterface
  private interface Step {
    int run(Connection connection, Optional<JobState> state, JobFilter filter);
  }

  private static ProblemException countChanged(int matched) {
    return Problem.of(
            "count-changed", 409, "Count changed", "Now " + matched + " match; nothing was done.")
        .with("matched", matched)
        .asException();
  }

  /** One transaction: it changes at most as many jobs as were counted. */
  private Future<Answer> bulk(Request request, String action, Step count, Step change) {
    JsonObject wanted = request.body().getJsonObject("filter");
    Act act = Act.of(request, action, wanted.encode());
    boolean dryRun = request.body().getBoolean("dryRun", false);
    Integer expected = request.body().getInteger("expected");
    if (dryRun == (expected != null)) {
      throw Problem.invalid(
              "expected", "is required: the number that you counted; or send dryRun to count")
          .asException();
    }
    Optional<JobState> state = Optional.ofNullable(wanted.getString("state")).map(JobJson::state);
    JobFilter filter =
        new JobFilter(
            Optional.ofNullable(wanted.getString("queue")),
            Optional.ofNullable(wanted.getString("kind")),
            Optional.ofNullable(wanted.getString("text")));
    return workers.besideReports(
        () ->
            transactor.call(
                c -> {
                  int matched = count.run(c, state, filter);
                  if (expected != null && expected != matched) {
                    throw countChanged(matched);
                  }
                  int changed = dryRun ? 0 : change.run(c, state, filter);
                  // More came since they were counted.
                  if (changed > matched) {
                    throw countChanged(changed);
                  }
                  if (changed > 0) {
                    JobActs.record(c, act, changed);
                  }
                  return Answer.ok(
                      new JsonObject().put("matched", matched).put("changed", changed));
                }));
  }

  private Job find(JobId id) {
    return jobs.find(id).orElseThrow(() -> unknown().asException());
  }

  private static boolean recorded(Connection connection, Act act, boolean changed)
      throws SQLException {
    if (changed) {
      JobActs.record(connection, act, 1);
    }
    return changed;
  }

  private static EditResult recorded(Connection connection, Act act, EditResult result)
      throws SQLException {
    return Edits.recorded(connection, act, result, 1);
  }

  private static void requireEdited(EditResult result, String whenGone) {
    Edits.requireEdited(result, Edits.notNow("job-changed", whenGone));
  }

  private static JobId id(Request request) {
    try {
      return JobId.of(request.path("id"));
    } catch (IllegalArgumentException e) {
      throw unknown().asException();
    }
  }

  private static Problem unknown() {
    return Problem.notFound("such job");
  }
}
