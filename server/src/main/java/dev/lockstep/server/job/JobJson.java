package dev.lockstep.server.job;

import dev.lockstep.job.Job;
import dev.lockstep.job.JobState;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Shape;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Jobs in the API's form. */
final class JobJson {
  private static final int MAX_NAME = 200;
  private static final int MAX_TEXT = 10_000;

  static final Shape STATE = Shape.choice("scheduled", "ready", "running", "dead", "done");

  static final ObjectShape ITEM =
      Shape.object()
          .required("id", Shape.text(1, 64))
          .required("queue", Shape.text(1, MAX_NAME))
          .required("kind", Shape.text(1, MAX_NAME))
          .required("state", STATE)
          .required("dueAt", Shape.time())
          .required("failedAttempts", Shape.integer(0, Short.MAX_VALUE))
          .required("maxAttempts", Shape.nullable(Shape.integer(1, Short.MAX_VALUE)))
          .required("lane", Shape.nullable(Shape.text(1, MAX_NAME)))
          .required("version", Shape.integer(0, Integer.MAX_VALUE))
          .required("endedAt", Shape.nullable(Shape.time()))
          .required("reason", Shape.nullable(Shape.text(0, MAX_TEXT)));

  private static final Shape ATTEMPT =
      Shape.object()
          .required("attempt", Shape.integer(1, Short.MAX_VALUE))
          .required("at", Shape.time())
          .required("error", Shape.nullable(Shape.text(0, MAX_TEXT)));

  static final ObjectShape DETAIL =
      ITEM.required("payload", Shape.any())
          .required("attempts", Shape.list(ATTEMPT, 0, Short.MAX_VALUE));

  private JobJson() {}

  static JsonObject item(Job job) {
    boolean done = job.state() == JobState.DONE;
    return new JsonObject()
        .put("id", job.id().toString())
        .put("queue", job.queue())
        .put("kind", job.kind())
        .put("state", label(job.state()))
        .put("dueAt", job.due().toString())
        .put("failedAttempts", job.attempts())
        .put("maxAttempts", done ? null : job.maxAttempts())
        .put("lane", job.lane().orElse(null))
        .put("version", job.version())
        .put("endedAt", job.endedAt().map(Instant::toString).orElse(null))
        .put("reason", job.reason().orElse(null));
  }

  /** Includes every attempt: the failed ones, and the one that ended it. */
  static JsonObject detail(Job job, List<Job.Attempt> failed) {
    JsonArray attempts = new JsonArray();
    failed.forEach(one -> attempts.add(attempt(one.number(), one.at(), one.error())));
    if (job.state() == JobState.DONE) {
      // A retry by hand resets the job's count; its failed attempts keep their numbers.
      int before = failed.isEmpty() ? job.attempts() : failed.get(failed.size() - 1).number();
      attempts.add(attempt(before + 1, job.endedAt().orElse(job.due()), null));
    }
    return item(job).put("payload", Json.decodeValue(job.payload())).put("attempts", attempts);
  }

  private static JsonObject attempt(int number, Instant at, @Nullable String error) {
    return new JsonObject().put("attempt", number).put("at", at.toString()).put("error", error);
  }

  static String label(JobState state) {
    return state.name().toLowerCase(Locale.ROOT);
  }

  static JobState state(String label) {
    return JobState.valueOf(label.toUpperCase(Locale.ROOT));
  }
}
