package dev.lockstep.server.job;

import dev.lockstep.job.ClaimedJob;
import dev.lockstep.job.EnqueueResult;
import dev.lockstep.job.JobId;
import dev.lockstep.job.JobsConfig;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.NewJob.Lane;
import dev.lockstep.job.NewJob.UniqueKey;
import dev.lockstep.job.Priority;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.sql.StorableText;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Jobs over HTTP: enqueued, claimed and completed. */
final class WorkJson {
  /** Per request. */
  static final int MAX_JOBS = 1_000;

  static final int MAX_EVENTS = 1_000;
  static final int MAX_ERROR = 4_000;

  private static final int MAX_NAME = 200;
  private static final Shape NAME = Shape.text(1, MAX_NAME);

  static final ObjectShape NEW_JOB =
      Shape.object()
          .required("kind", NAME)
          .required("payload", Shape.any())
          .optional("at", Shape.time())
          .optional("lane", NAME)
          .optional("priority", Shape.choice("high", "normal", "low"))
          .optional("unique", NAME)
          .optional("maxAttempts", Shape.integer(1, NewJob.MAX_ATTEMPTS));

  private static final Shape ENQUEUED =
      Shape.object().required("id", Shape.text(1, 64)).required("duplicate", Shape.bool());

  private static final Cases<EnqueueResult, JsonObject> ENQUEUED_AS =
      Cases.<EnqueueResult, JsonObject>over(EnqueueResult.class)
          .when(EnqueueResult.Created.class, made -> enqueued(made.id(), false))
          .when(EnqueueResult.Duplicate.class, twin -> enqueued(twin.existing(), true))
          .complete();

  static final Shape ENQUEUED_ALL =
      Shape.object().required("jobs", Shape.list(ENQUEUED, 1, MAX_JOBS));

  private static final Shape JOB =
      Shape.object()
          .required("id", Shape.text(1, 64))
          .required("queue", NAME)
          .required("kind", NAME)
          .required("payload", Shape.any())
          .required("attempt", Shape.integer(1, Short.MAX_VALUE))
          .required("maxAttempts", Shape.integer(1, Short.MAX_VALUE))
          .required("lane", Shape.nullable(NAME))
          .required("due", Shape.time());

  private static final Shape CLAIM =
      Shape.object()
          .required("token", Shape.text(1, 100))
          .required("expiresAt", Shape.time())
          .required("job", JOB);

  static final Shape EXTENDED = Shape.object().required("expiresAt", Shape.time());

  private static final Shape EVENT =
      Shape.object()
          .required("stream", Shape.text(1, 100))
          .required("key", Shape.text(1, 400))
          .required("type", NAME)
          .required("data", Shape.any());

  private static final Shape EVENT_PLACE =
      Shape.object()
          .required("stream", Shape.text(1, 100))
          .required("key", Shape.text(1, 400))
          .required("seq", Shape.integer(0, Long.MAX_VALUE));

  static final Shape COMPLETE =
      Shape.object()
          .optional("events", Shape.list(EVENT, 0, MAX_EVENTS))
          .optional("jobs", Shape.list(NEW_JOB.optional("queue", NAME), 0, MAX_JOBS));

  static final Shape RETRY =
      Shape.object()
          .required("error", Shape.text(1, MAX_ERROR))
          .optional("delaySeconds", Shape.integer(0, 3650L * 24 * 60 * 60));

  static final Shape DEAD = Shape.object().required("error", Shape.text(1, MAX_ERROR));

  private static final ObjectShape END =
      Shape.object()
          .required("id", Shape.text(1, 64))
          .required("state", Shape.choice("done", "scheduled", "dead"))
          .required("nextAt", Shape.nullable(Shape.time()));

  static final Shape ENDED = Shape.object().required("job", END);
  static final Shape COMPLETED =
      Shape.object()
          .required("job", END)
          .required("events", Shape.list(EVENT_PLACE, 0, MAX_EVENTS))
          .required("jobs", Shape.list(ENQUEUED, 0, MAX_JOBS));

  private WorkJson() {}

  /** The shape of a claim request. */
  static Shape ask(ClaimRules rules) {
    return Shape.object()
        .optional("max", Shape.integer(1, rules.maxJobs()))
        .optional("leaseSeconds", lease(rules))
        .optional("waitSeconds", Shape.integer(0, rules.maxWait().toSeconds()));
  }

  /** The shape of its answer. */
  static Shape claimed(ClaimRules rules) {
    return Shape.object().required("claims", Shape.list(CLAIM, 0, rules.maxJobs()));
  }

  static Shape heartbeat(ClaimRules rules) {
    return Shape.object().optional("leaseSeconds", lease(rules));
  }

  private static Shape lease(ClaimRules rules) {
    return Shape.integer(1, rules.maxLease().toSeconds());
  }

  /**
   * A job to enqueue.
   *
   * @param at its path in the request, ending with a dot; empty for the request itself
   */
  static NewJob job(String queue, String at, JsonObject body) {
    String payload = Json.encode(body.getValue("payload"));
    int most = JobsConfig.DEFAULT.maxPayloadBytes();
    if (payload.getBytes(StandardCharsets.UTF_8).length > most) {
      throw Problem.invalid(at + "payload", "may have at most " + most + " bytes").asException();
    }
    storable(at + "payload", payload);
    storable(at + "kind", body.getString("kind"));
    Optional<String> lane = text(at, body, "lane");
    Priority priority =
        Priority.valueOf(body.getString("priority", "normal").toUpperCase(Locale.ROOT));
    if (lane.isPresent() && priority != Priority.NORMAL) {
      throw Problem.invalid(at + "priority", "must be normal in a lane, which keeps its own order")
          .asException();
    }
    try {
      return new NewJob(
          queue,
          body.getString("kind"),
          payload,
          Optional.ofNullable(body.getString("at")).map(t -> OffsetDateTime.parse(t).toInstant()),
          priority,
          lane.map(key -> new Lane(key, 1)),
          text(at, body, "unique").map(UniqueKey::whileLive),
          body.getInteger("maxAttempts", NewJob.of(queue, "k", "{}").maxAttempts()));
    } catch (IllegalArgumentException e) {
      // Everything except the time was checked above.
      throw Problem.invalid(at + "at", "must be from 1970 to 9999").asException();
    }
  }

  private static Optional<String> text(String at, JsonObject body, String field) {
    return Optional.ofNullable(body.getString(field)).map(text -> storable(at + field, text));
  }

  static String storable(String field, String text) {
    if (!StorableText.is(text)) {
      throw Problem.invalid(field, "must not have NUL or unpaired surrogates").asException();
    }
    return text;
  }

  static JsonArray enqueued(List<EnqueueResult> results) {
    JsonArray jobs = new JsonArray();
    results.forEach(one -> jobs.add(ENQUEUED_AS.of(one)));
    return jobs;
  }

  private static JsonObject enqueued(JobId id, boolean duplicate) {
    return new JsonObject().put("id", id.toString()).put("duplicate", duplicate);
  }

  static JsonObject claims(List<ClaimedJob> claimed) {
    JsonArray claims = new JsonArray();
    for (ClaimedJob job : claimed) {
      claims.add(
          new JsonObject()
              .put("token", job.token().toString())
              .put("expiresAt", job.expiresAt().toString())
              .put(
                  "job",
                  new JsonObject()
                      .put("id", job.id().toString())
                      .put("queue", job.queue())
                      .put("kind", job.kind())
                      .put("payload", Json.decodeValue(job.payload()))
                      .put("attempt", job.attempt())
                      .put("maxAttempts", job.maxAttempts())
                      .put("lane", job.lane().orElse(null))
                      .put("due", job.due().toString())));
    }
    return new JsonObject().put("claims", claims);
  }

  static JsonObject end(String id, String state, Optional<Instant> nextAt) {
    return new JsonObject()
        .put("id", id)
        .put("state", state)
        .put("nextAt", nextAt.map(Instant::toString).orElse(null));
  }
}
