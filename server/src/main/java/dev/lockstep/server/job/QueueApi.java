package dev.lockstep.server.job;

import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.job.Jobs;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.job.QueueView;
import dev.lockstep.server.act.Act;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.job.PauseTable.Pause;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxAction;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Supplier;

/** Queues over HTTP: shown, paused, resumed and rate-limited. */
final class QueueApi {
  private static final int MAX_QUEUES = 10_000;
  private static final Shape COUNT = Shape.integer(0, Long.MAX_VALUE);

  private static final ObjectShape VIEW =
      Shape.object()
          .required("name", Shape.text(1, 200))
          .required("paused", Shape.bool())
          .required("pauseReason", Shape.nullable(Shape.text(1, 500)))
          .required("pausedBy", Shape.nullable(Shape.text(1, 200)))
          .required("pausedAt", Shape.nullable(Shape.time()))
          .required("ratePerSecond", Shape.nullable(Shape.integer(1, 1_000_000)))
          .required("scheduled", COUNT)
          .required("ready", COUNT)
          .required("running", COUNT)
          .required("dead", COUNT)
          .required("doneLastMinute", COUNT)
          .required("oldestDueAt", Shape.nullable(Shape.time()));

  private final Transactor transactor;
  private final Jobs jobs;
  private final Workers workers;
  private final Supplier<List<QueueConfig>> served;

  QueueApi(Transactor transactor, Jobs jobs, Workers workers, Supplier<List<QueueConfig>> served) {
    this.transactor = transactor;
    this.jobs = jobs;
    this.workers = workers;
    this.served = served;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(GET, "/v1/queues", "Shows every queue and its counts.")
            .by(Role.OPERATOR)
            .answering(200, Shape.object().required("items", Shape.list(VIEW, 0, MAX_QUEUES)))
            .handledBy(request -> workers.read(request, this::list)),
        Endpoint.of(POST, "/v1/queues/{queue}/pause", "Pauses a queue: none of its jobs starts.")
            .by(Role.OPERATOR)
            .perhapsTaking(Act.REASON)
            .answering(200, VIEW)
            .handledBy(this::pause),
        Endpoint.of(POST, "/v1/queues/{queue}/resume", "Resumes a queue.")
            .by(Role.OPERATOR)
            .perhapsTaking(Act.REASON)
            .answering(200, VIEW)
            .handledBy(this::resume),
        Endpoint.of(
                POST,
                "/v1/queues/{queue}/limit",
                "Limits how many jobs of a queue start per second.")
            .by(Role.OPERATOR)
            .taking(Act.REASON.required("perSecond", Shape.nullable(Shape.integer(1, 1_000_000))))
            .answering(200, VIEW)
            .handledBy(this::limit));
  }

  private Answer list() {
    JsonArray items = new JsonArray();
    all().forEach(items::add);
    return Answer.ok(new JsonObject().put("items", items));
  }

  private List<JsonObject> all() {
    List<QueueView> views = new ArrayList<>(jobs.queues());
    for (QueueConfig queue : served.get()) {
      if (views.stream().noneMatch(view -> view.name().equals(queue.name()))) {
        views.add(empty(queue.name()));
      }
    }
    views.sort(Comparator.comparing(QueueView::name));
    Map<String, Pause> pauses = transactor.call(PauseTable::all);
    return views.stream()
        .map(view -> json(view, Optional.ofNullable(pauses.get(view.name()))))
        .toList();
  }

  private static QueueView empty(String name) {
    return new QueueView(name, false, OptionalDouble.empty(), 0, 0, 0, 0, 0, Optional.empty());
  }

  private Future<Answer> pause(Request request) {
    String queue = request.path("queue");
    Act act = Act.of(request, "pause queue", queue);
    return change(
        act,
        c -> {
          jobs.pause(queue);
          PauseTable.set(c, queue, act.reason(), act.actor());
        });
  }

  private Future<Answer> resume(Request request) {
    String queue = request.path("queue");
    return change(
        Act.of(request, "resume queue", queue),
        c -> {
          jobs.resume(queue);
          PauseTable.remove(c, queue);
        });
  }

  private Future<Answer> limit(Request request) {
    String queue = request.path("queue");
    Integer rate = request.body().getInteger("perSecond");
    OptionalDouble perSecond = rate == null ? OptionalDouble.empty() : OptionalDouble.of(rate);
    return change(Act.of(request, "limit queue", queue), c -> jobs.limitRate(queue, perSecond));
  }

  private Future<Answer> change(Act act, TxAction change) {
    return workers.run(
        () -> {
          // Pausing a misspelt name would have no effect.
          find(act.subject());
          transactor.run(
              c -> {
                change.run(c);
                JobActs.record(c, act, 0);
              });
          return Answer.ok(find(act.subject()));
        });
  }

  private JsonObject find(String queue) {
    return all().stream()
        .filter(view -> view.getString("name").equals(queue))
        .findFirst()
        .orElseThrow(() -> Problem.notFound("such queue").asException());
  }

  private static JsonObject json(QueueView view, Optional<Pause> pause) {
    Optional<Pause> known = view.paused() ? pause : Optional.empty();
    OptionalDouble rate = view.rateLimit();
    return new JsonObject()
        .put("name", view.name())
        .put("paused", view.paused())
        .put("pauseReason", known.flatMap(Pause::reason).orElse(null))
        .put("pausedBy", known.map(Pause::by).orElse(null))
        .put("pausedAt", known.map(one -> one.at().toString()).orElse(null))
        .put("ratePerSecond", rate.isEmpty() ? null : Math.round(Math.max(1, rate.getAsDouble())))
        .put("scheduled", view.scheduled())
        .put("ready", view.ready())
        .put("running", view.running())
        .put("dead", view.dead())
        .put("doneLastMinute", view.doneLastMinute())
        .put("oldestDueAt", view.oldestDue().map(Instant::toString).orElse(null));
  }
}
