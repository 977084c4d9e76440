package dev.lockstep.server.job;

import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.job.ClaimAsk;
import dev.lockstep.job.ClaimEnd;
import dev.lockstep.job.ClaimToken;
import dev.lockstep.job.ClaimedJob;
import dev.lockstep.job.Claims;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.Outcome;
import dev.lockstep.once.Claim;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceKey;
import dev.lockstep.once.OnceResult;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Endpoint.IdempotencyKey;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.ProblemException;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.StoredAnswer;
import dev.lockstep.server.api.Workers;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxWork;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Work over HTTP: jobs are enqueued, claimed under a lease, and ended by the claim's token.
 *
 * <p>A claim's ending is stored under its token as an idempotency key: a repetition gets the same
 * answer, and a different ending is told that the claim is lost. A refused request has written
 * nothing.
 */
final class WorkApi {
  /** The scope of enqueueing's idempotency keys; campaigns use their ids. */
  private static final long ENQUEUE_SCOPE = -21;

  /** The scope of ended claims. */
  private static final long CLAIM_SCOPE = -22;

  private static final String LOST = "claim-lost";

  /** Characters of payloads that a worker writes, and not the event loop. */
  private static final int LARGE = 100_000;

  private final Transactor transactor;
  private final Jobs jobs;
  private final Claims claims;
  private final ClaimDesk desk;
  private final Workers workers;
  private final Once once;
  private final WorkQueues queues;
  private final CompletionEvents events;
  private final ClaimRules rules;
  private final JobListener listener;

  WorkApi(
      Transactor transactor,
      Jobs jobs,
      ClaimDesk desk,
      Workers workers,
      Once once,
      WorkQueues queues,
      CompletionEvents events,
      ClaimRules rules,
      JobListener listener) {
    this.transactor = transactor;
    this.jobs = jobs;
    this.claims = jobs.claims();
    this.desk = desk;
    this.workers = workers;
    this.once = once;
    this.queues = queues;
    this.events = events;
    this.rules = rules;
    this.listener = listener;
  }

  List<Endpoint> endpoints() {
    return List.of(
        endpoint("/v1/queues/{queue}/jobs", "Enqueues one job, or several, all or nothing.")
            .withIdempotencyKey(IdempotencyKey.OPTIONAL)
            .withLargeBody()
            .takingOneOrMany(WorkJson.NEW_JOB, WorkJson.MAX_JOBS)
            .answering(201, WorkJson.ENQUEUED_ALL)
            .handledBy(this::enqueue),
        endpoint("/v1/queues/{queue}/claims", "Claims due jobs, or waits for them.")
            .perhapsTaking(WorkJson.ask(rules))
            .answering(200, WorkJson.claimed(rules))
            .handledBy(this::claim),
        endpoint("/v1/claims/{token}/heartbeat", "Extends a claim's lease.")
            .perhapsTaking(WorkJson.heartbeat(rules))
            .answering(200, WorkJson.EXTENDED)
            .handledBy(this::heartbeat),
        endpoint(
                "/v1/claims/{token}/complete",
                "Completes a claimed job, with events and follow-up jobs.")
            .withLargeBody()
            .perhapsTaking(WorkJson.COMPLETE)
            .answering(200, WorkJson.COMPLETED)
            .handledBy(this::complete),
        endpoint("/v1/claims/{token}/retry", "Counts a failed attempt; the job runs again later.")
            .taking(WorkJson.RETRY)
            .answering(200, WorkJson.ENDED)
            .handledBy(this::retry),
        endpoint("/v1/claims/{token}/dead", "Ends a claimed job as dead.")
            .taking(WorkJson.DEAD)
            .answering(200, WorkJson.ENDED)
            .handledBy(this::dead));
  }

  private static Endpoint endpoint(String path, String summary) {
    return Endpoint.of(POST, path, summary).by(Role.OPERATOR, Role.SERVICE);
  }

  private Future<Answer> enqueue(Request request) {
    String queue = queues.open("queue", request.path("queue"));
    List<JsonObject> bodies = request.bodies();
    List<NewJob> some = new ArrayList<>();
    for (int i = 0; i < bodies.size(); i++) {
      some.add(WorkJson.job(queue, bodies.size() == 1 ? "" : "[" + i + "].", bodies.get(i)));
    }
    TxWork<Answer> work =
        c ->
            Answer.of(
                201, new JsonObject().put("jobs", WorkJson.enqueued(jobs.enqueueAll(c, some))));
    return workers.run(() -> StoredAnswer.call(transactor, once, ENQUEUE_SCOPE, request, work));
  }

  private Future<Answer> claim(Request request) {
    String queue = queues.open("queue", request.path("queue"));
    JsonObject body = request.body();
    ClaimAsk ask =
        new ClaimAsk(
            request.principal().name(),
            body.getInteger("max", 1),
            Optional.ofNullable(body.getInteger("leaseSeconds"))
                .map(Duration::ofSeconds)
                .orElse(rules.lease()));
    Duration wait = Duration.ofSeconds(body.getInteger("waitSeconds", 0));
    HttpServerResponse response = request.raw().response();
    return desk.claim(queue, ask, wait, () -> response.closed() || response.ended())
        .compose(
            claimed ->
                claimed.isEmpty()
                    ? Future.succeededFuture(claimed)
                    : handed(request.requireKeyStillGood(), claimed))
        .compose(this::shown);
  }

  /** Large payloads would hold up an event loop. */
  private Future<Answer> shown(List<ClaimedJob> claimed) {
    int size = claimed.stream().mapToInt(job -> job.payload().length()).sum();
    return size < LARGE
        ? Future.succeededFuture(Answer.ok(WorkJson.claims(claimed)))
        : workers
            .run(() -> Answer.ok(WorkJson.claims(claimed)))
            .onFailure(full -> giveBack(claimed));
  }

  private void giveBack(List<ClaimedJob> claimed) {
    desk.giveBack(claimed.stream().map(ClaimedJob::token).toList());
  }

  /** If the API key ended during the wait, the jobs go back for other claimers. */
  private Future<List<ClaimedJob>> handed(Future<Void> keyIsGood, List<ClaimedJob> claimed) {
    return keyIsGood.map(good -> claimed).onFailure(ended -> giveBack(claimed));
  }

  private Future<Answer> heartbeat(Request request) {
    ClaimToken token = token(request);
    String claimer = request.principal().name();
    Optional<Duration> lease =
        Optional.ofNullable(request.body().getInteger("leaseSeconds")).map(Duration::ofSeconds);
    return workers.run(
        () -> {
          var until = claims.extend(token, claimer, lease);
          if (until.isEmpty()) {
            claims.giveBackIfChanged(token, claimer);
            throw lost();
          }
          return Answer.ok(new JsonObject().put("expiresAt", until.get().toString()));
        });
  }

  private Future<Answer> retry(Request request) {
    Optional<Duration> delay =
        Optional.ofNullable(request.body().getLong("delaySeconds")).map(Duration::ofSeconds);
    Outcome retry = new Outcome.Retry(request.body().getString("error"), delay);
    return workers.run(() -> end(request, (c, token, claimer) -> end(c, token, claimer, retry)));
  }

  private Future<Answer> dead(Request request) {
    Outcome dead = new Outcome.Dead(request.body().getString("error"));
    return workers.run(() -> end(request, (c, token, claimer) -> end(c, token, claimer, dead)));
  }

  private Future<Answer> complete(Request request) {
    JsonArray given = request.body().getJsonArray("events", new JsonArray());
    List<NewEvent> some = new ArrayList<>();
    for (int i = 0; i < given.size(); i++) {
      some.add(events.read("events[" + i + "].", given.getJsonObject(i)));
    }
    JsonArray further = request.body().getJsonArray("jobs", new JsonArray());
    // Validate them before the claim is read.
    List<NewJob> unused = further(further, "any");
    return workers.run(
        () -> {
          events.requireStreams(some);
          return end(request, (c, token, claimer) -> complete(c, token, claimer, some, further));
        });
  }

  private JsonObject complete(
      Connection connection,
      ClaimToken token,
      String claimer,
      List<NewEvent> some,
      JsonArray further) {
    String queue = claims.queueOf(connection, token, claimer).orElseThrow(WorkApi::lost);
    JsonObject written = new JsonObject();
    // Before the job's own row is locked, as the lock order requires.
    Outcome done =
        Outcome.Done.writing(
            c ->
                written
                    .put("events", some.isEmpty() ? new JsonArray() : events.append(c, some))
                    .put("jobs", WorkJson.enqueued(jobs.enqueueAll(c, further(further, queue)))));
    return end(connection, token, claimer, done).mergeIn(written);
  }

  private List<NewJob> further(JsonArray bodies, String usualQueue) {
    List<NewJob> some = new ArrayList<>();
    for (int i = 0; i < bodies.size(); i++) {
      JsonObject body = bodies.getJsonObject(i);
      String at = "jobs[" + i + "].";
      String named = body.getString("queue");
      String queue = named == null ? usualQueue : queues.open(at + "queue", named);
      some.add(WorkJson.job(queue, at, body));
    }
    return some;
  }

  /** Ends a claim, in a transaction. */
  @FunctionalInterface
  private interface Ending {
    JsonObject write(Connection connection, ClaimToken token, String claimer);
  }

  private JsonObject end(Connection connection, ClaimToken token, String claimer, Outcome outcome) {
    if (claims.end(connection, token, claimer, outcome) instanceof ClaimEnd.Recorded ended) {
      return new JsonObject()
          .put(
              "job",
              WorkJson.end(token.job().toString(), JobJson.label(ended.state()), ended.nextAt()));
    }
    throw lost();
  }

  private Answer end(Request request, Ending ending) {
    ClaimToken token = token(request);
    String claimer = request.principal().name();
    try {
      OnceResult result =
          once.call(
              new OnceKey(CLAIM_SCOPE, claimer, token.toString()),
              request.fingerprint(),
              c -> StoredAnswer.text(Answer.ok(ending.write(c, token, claimer))));
      if (result instanceof Claim.Reused) {
        // It has ended differently.
        throw lost();
      }
      if (result instanceof OnceResult.Completed done && !done.replayed()) {
        listener.onClaimEnd(true);
      }
      return StoredAnswer.of(result);
    } catch (ProblemException e) {
      if (e.problem().slug().equals(LOST)) {
        listener.onClaimEnd(false);
      }
      claims.giveBackIfChanged(token, claimer);
      throw e;
    }
  }

  private static ClaimToken token(Request request) {
    return ClaimToken.parse(request.path("token")).orElseThrow(WorkApi::lost);
  }

  private static ProblemException lost() {
    return Problem.of(
            LOST,
            409,
            "Claim lost",
            "This token is not your live claim of the job any more; nothing was written.")
        .asException();
  }
}
