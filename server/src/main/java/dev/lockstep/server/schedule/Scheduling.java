package dev.lockstep.server.schedule;

import static io.vertx.core.http.HttpMethod.DELETE;
import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.PATCH;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.job.EditResult;
import dev.lockstep.job.NewSchedule;
import dev.lockstep.job.Recurrence;
import dev.lockstep.job.Schedule;
import dev.lockstep.job.ScheduleId;
import dev.lockstep.job.Schedules;
import dev.lockstep.once.Once;
import dev.lockstep.server.act.Act;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Endpoint.IdempotencyKey;
import dev.lockstep.server.api.Endpoint.IfMatch;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.StoredAnswer;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.delivery.Deliveries;
import dev.lockstep.server.job.BackgroundJobs;
import dev.lockstep.server.job.Edits;
import dev.lockstep.server.job.JobActs;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxWork;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Schedules over HTTP: created, shown, changed and deleted. Thread-safe. */
public final class Scheduling {
  public static final int MAX_PREVIEW = 1_000;
  private static final int PREVIEW = 10;

  /** The scope of schedules' idempotency keys; campaigns use their ids. */
  private static final long ONCE_SCOPE = -1;

  private static final Shape TIMES =
      Shape.object().required("items", Shape.list(Shape.time(), 0, MAX_PREVIEW));

  private final Transactor transactor;
  private final Workers workers;
  private final Once once;
  private final Schedules schedules;
  private final Deliveries deliveries;
  private final Duration keepEnded;

  /**
   * @param keepEnded how long an ended schedule can be looked up
   */
  public Scheduling(
      Transactor transactor,
      Workers workers,
      Once once,
      Schedules schedules,
      Deliveries deliveries,
      Duration keepEnded) {
    this.keepEnded = keepEnded;
    this.transactor = transactor;
    this.workers = workers;
    this.once = once;
    this.schedules = schedules;
    this.deliveries = deliveries;
  }

  /** Parses a schedule's spec. */
  public static Recurrence recurrence(String spec) {
    return When.read(spec);
  }

  /** Removes ended schedules; they are kept as long as their deliveries. */
  public BackgroundJobs backgroundJobs() {
    return BackgroundJobs.none()
        .every(
            Duration.ofHours(1),
            "ended-schedules",
            job -> {
              while (transactor.call(c -> schedules.removeEnded(c, keepEnded))
                  == Schedules.REMOVAL_BATCH) {
                // In small transactions, until none is left.
              }
            });
  }

  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(
                POST, "/v1/schedules", "Creates a schedule. Each run is delivered under one id.")
            .by(Role.OPERATOR, Role.SERVICE)
            .taking(ScheduleJson.NEW)
            .withIdempotencyKey(IdempotencyKey.OPTIONAL)
            .answering(201, ScheduleJson.VIEW)
            .handledBy(this::create),
        Endpoint.of(GET, "/v1/schedules", "Lists schedules, newest first.")
            .by(Role.OPERATOR, Role.SERVICE)
            .paged(ScheduleJson.VIEW)
            .handledBy(this::list),
        Endpoint.of(POST, "/v1/schedules/preview", "Shows when a schedule would run.")
            .by(Role.OPERATOR, Role.SERVICE)
            .taking(
                Shape.object()
                    .required("when", When.SHAPE)
                    .optional("count", Shape.integer(1, MAX_PREVIEW)))
            .answering(200, TIMES)
            .handledBy(this::previewNew),
        Endpoint.of(GET, "/v1/schedules/{id}", "Shows a schedule; its ETag is its version.")
            .by(Role.OPERATOR, Role.SERVICE)
            .answering(200, ScheduleJson.VIEW)
            .handledBy(this::show),
        Endpoint.of(
                PATCH,
                "/v1/schedules/{id}",
                "Changes a schedule, if it still has the version you saw.")
            .by(Role.OPERATOR, Role.SERVICE)
            .withIfMatch(IfMatch.REQUIRED)
            .taking(ScheduleJson.CHANGE)
            .answering(200, ScheduleJson.VIEW)
            .handledBy(this::change),
        Endpoint.of(
                DELETE,
                "/v1/schedules/{id}",
                "Deletes a schedule; deliveries in progress continue.")
            .by(Role.OPERATOR, Role.SERVICE)
            .withIfMatch(IfMatch.OPTIONAL)
            .perhapsTaking(Act.REASON)
            .answering(200, ScheduleJson.VIEW)
            .handledBy(this::remove),
        Endpoint.of(GET, "/v1/schedules/{id}/preview", "Shows when a schedule runs next.")
            .by(Role.OPERATOR, Role.SERVICE)
            .withQuery("count", "How many runs, 1 to " + MAX_PREVIEW + "; default 10.")
            .answering(200, TIMES)
            .handledBy(this::preview));
  }

  private Future<Answer> create(Request request) {
    return workers.run(
        () -> {
          ScheduleId id = schedules.nextId();
          Act act = Act.of(request, "make schedule", id.toString());
          boolean kept = isKept(request);
          TxWork<Answer> work =
              connection -> {
                // Under the key: a repetition is answered even when the time has passed since.
                JsonObject body = withTimeToCome(request.body(), RoundTrip.now(connection));
                Answer made = create(connection, id, ScheduleJson.content(deliveries, id, body));
                if (kept) {
                  JobActs.record(connection, act, 0);
                }
                return made;
              };
          return StoredAnswer.call(transactor, once, ONCE_SCOPE, request, work);
        });
  }

  private Answer create(Connection connection, ScheduleId id, NewSchedule content) {
    Schedule made = schedules.create(connection, id, content);
    return Answer.created("/v1/schedules/" + made.id(), ScheduleJson.view(made))
        .withVersion(made.version());
  }

  /**
   * @param now on the database's clock, which runs the schedule
   */
  private static JsonObject withTimeToCome(JsonObject body, Instant now) {
    return body.getJsonObject("when").containsKey("at")
        ? ScheduleJson.withTimeToCome(body, now)
        : body;
  }

  /** Uses this transaction's clock, which decides whether it will run at all. */
  private static NewSchedule stillToCome(Connection connection, NewSchedule content)
      throws SQLException {
    return ScheduleJson.stillToCome(content, RoundTrip.now(connection));
  }

  private Future<Answer> list(Request request) {
    Page page = request.page();
    Optional<ScheduleId> before = page.after(ScheduleId::of);
    return workers.read(
        request,
        () ->
            Answer.ok(
                page.of(
                    schedules.list(before, page.limit() + 1, Page.MAX_BYTES),
                    ScheduleJson::view,
                    one -> one.id().toString(),
                    Scheduling::bytes)));
  }

  private static long bytes(Schedule schedule) {
    return schedule.content().job().payload().getBytes(StandardCharsets.UTF_8).length;
  }

  private Future<Answer> show(Request request) {
    ScheduleId id = id(request);
    return workers.read(request, () -> answer(find(id)));
  }

  private Future<Answer> change(Request request) {
    ScheduleId id = id(request);
    Act act = Act.of(request, "change schedule", id.toString());
    return workers.run(
        () -> {
          Schedule seen = find(id);
          request.requireMatch(seen.version());
          JsonObject body = ScheduleJson.changed(seen, request.body());
          boolean moved = request.body().containsKey("when");
          if (moved) {
            body = withTimeToCome(body, transactor.call(RoundTrip::now));
          }
          NewSchedule content = ScheduleJson.content(deliveries, id, body);
          OptionalInt version = OptionalInt.of(seen.version());
          requireEdited(
              transactor.call(
                  c ->
                      recorded(
                          request,
                          c,
                          act,
                          schedules.change(
                              c, id, version, moved ? stillToCome(c, content) : content))));
          return answer(find(id));
        });
  }

  private Future<Answer> remove(Request request) {
    ScheduleId id = id(request);
    Act act = Act.of(request, "delete schedule", id.toString());
    return workers.run(
        () -> {
          Schedule seen = find(id);
          request.requireMatch(seen.version());
          OptionalInt version = Edits.namedVersion(request, seen.version());
          requireEdited(
              transactor.call(c -> recorded(request, c, act, schedules.delete(c, id, version))));
          return answer(seen);
        });
  }

  /** Only operators' acts are kept: programs edit thousands and keep their own records. */
  private static boolean isKept(Request request) {
    return request.principal().role() == Role.OPERATOR;
  }

  private static EditResult recorded(
      Request request, Connection connection, Act act, EditResult result) throws SQLException {
    return isKept(request) ? Edits.recorded(connection, act, result, 0) : result;
  }

  private static void requireEdited(EditResult result) {
    Edits.requireEdited(result, unknown());
  }

  private Future<Answer> preview(Request request) {
    ScheduleId id = id(request);
    int count = request.number("count", 1, MAX_PREVIEW).orElse((long) PREVIEW).intValue();
    return workers
        .read(request, () -> schedules.preview(id, count))
        .map(times -> times(times.orElseThrow(() -> unknown().asException())));
  }

  private Future<Answer> previewNew(Request request) {
    JsonObject when = request.body().getJsonObject("when");
    int count = request.body().getInteger("count", PREVIEW);
    return workers.run(() -> times(When.recurrence(when).preview(Instant.now(), count)));
  }

  private static Answer times(List<Instant> times) {
    return Answer.ok(
        new JsonObject()
            .put("items", new JsonArray(times.stream().map(Instant::toString).toList())));
  }

  private Schedule find(ScheduleId id) {
    return schedules.find(id).orElseThrow(() -> unknown().asException());
  }

  private static Answer answer(Schedule schedule) {
    return Answer.ok(ScheduleJson.view(schedule)).withVersion(schedule.version());
  }

  private static ScheduleId id(Request request) {
    try {
      return ScheduleId.of(request.path("id"));
    } catch (IllegalArgumentException e) {
      throw unknown().asException();
    }
  }

  private static Problem unknown() {
    return Problem.notFound("such schedule");
  }
}
