package dev.lockstep.server.job;

import static io.vertx.core.http.HttpMethod.GET;

import dev.lockstep.server.act.Act;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.job.JobActs.Kept;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;

/** Lists actions on jobs, queues and schedules over HTTP. */
final class JobActApi {
  private static final ObjectShape ACT =
      Shape.object()
          .required("at", Shape.time())
          .required("action", Shape.text(1, 64))
          .required("subject", Shape.text(1, 2_000))
          .required("actor", Shape.text(1, 200))
          .required("reason", Act.WHY)
          .required("affected", Shape.integer(0, Integer.MAX_VALUE));

  private final Transactor transactor;
  private final Workers workers;

  JobActApi(Transactor transactor, Workers workers) {
    this.transactor = transactor;
    this.workers = workers;
  }

  Endpoint endpoint() {
    return Endpoint.of(
            GET, "/v1/job-actions", "Lists actions on jobs, queues and schedules, newest first.")
        .by(Role.OPERATOR)
        .paged(ACT)
        .handledBy(this::list);
  }

  private Future<Answer> list(Request request) {
    Page page = request.page();
    long before = page.afterNumber(Long.MAX_VALUE);
    return workers.read(
        request,
        () ->
            Answer.ok(
                page.of(
                    transactor.call(c -> JobActs.page(c, before, page.limit() + 1)),
                    JobActApi::json,
                    one -> String.valueOf(one.id()))));
  }

  private static JsonObject json(Kept kept) {
    return new JsonObject()
        .put("at", kept.at().toString())
        .put("action", kept.act().action())
        .put("subject", kept.act().subject())
        .put("actor", kept.act().actor())
        .put("reason", kept.act().reason().orElse(null))
        .put("affected", kept.affected());
  }
}
