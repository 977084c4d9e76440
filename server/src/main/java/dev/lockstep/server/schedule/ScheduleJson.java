package dev.lockstep.server.schedule;

import dev.lockstep.job.NewJob;
import dev.lockstep.job.NewSchedule;
import dev.lockstep.job.Recurrence.CatchUp;
import dev.lockstep.job.Schedule;
import dev.lockstep.job.ScheduleId;
import dev.lockstep.server.act.Act;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.delivery.Deliveries;
import dev.lockstep.server.delivery.Delivery;
import dev.lockstep.server.delivery.DeliveryJson;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;

/** Schedules in the API's form. */
final class ScheduleJson {
  static final int DEFAULT_ATTEMPTS = 10;

  /** Tolerates clock differences: a time that has just passed runs at once. */
  private static final Duration JUST_NOW = Duration.ofMinutes(1);

  private static final Shape NAME = Shape.text(1, 200);
  private static final Shape ATTEMPTS = Shape.integer(1, NewJob.MAX_ATTEMPTS);
  private static final Shape CATCH_UP = Shape.choice("all", "latest", "none");
  private static final List<String> FORMS = List.of("at", "cron", "yearly");

  static final ObjectShape NEW =
      Shape.object()
          .required("name", NAME)
          .required("when", When.SHAPE)
          .required("deliver", DeliveryJson.NEW)
          .optional("maxAttempts", ATTEMPTS)
          .optional("catchUp", CATCH_UP);

  /**
   * The parts of {@code when} and {@code deliver} to change; a different form replaces the old one.
   */
  static final ObjectShape CHANGE =
      Shape.object()
          .optional("name", NAME)
          .optional("when", Shape.anything())
          .optional("deliver", DeliveryJson.CHANGE)
          .optional("maxAttempts", ATTEMPTS)
          .optional("catchUp", CATCH_UP)
          .optional("reason", Act.WHY);

  static final ObjectShape VIEW =
      Shape.object()
          .required("id", Shape.text(1, 64))
          .required("name", NAME)
          .required("when", When.SHAPE)
          .required("deliver", DeliveryJson.VIEW)
          .required("maxAttempts", ATTEMPTS)
          .required("catchUp", CATCH_UP)
          .required("version", Shape.integer(1, Integer.MAX_VALUE))
          .required("nextAt", Shape.nullable(Shape.time()));

  private ScheduleJson() {}

  static JsonObject view(Schedule schedule) {
    NewSchedule content = schedule.content();
    return new JsonObject()
        .put("id", schedule.id().toString())
        .put("name", content.name())
        .put("when", new JsonObject(content.spec()))
        .put("deliver", DeliveryJson.view(Delivery.of(content.job())))
        .put("maxAttempts", content.job().maxAttempts())
        .put("catchUp", content.catchUp().name().toLowerCase(Locale.ROOT))
        .put("version", schedule.version())
        .put("nextAt", schedule.nextAt().map(Instant::toString).orElse(null));
  }

  /**
   * Reads a body of the shape {@link #NEW}.
   *
   * @throws dev.lockstep.server.api.ProblemException that names what is invalid
   */
  static NewSchedule content(Deliveries deliveries, ScheduleId id, JsonObject body) {
    JsonObject when = When.complete(body.getJsonObject("when"));
    // Parsed here, so that an invalid part is refused by name.
    When.recurrence(when);
    return new NewSchedule(
        body.getString("name"),
        when.encode(),
        deliveries.job(
            id.toString(),
            body.getJsonObject("deliver"),
            body.getInteger("maxAttempts", DEFAULT_ATTEMPTS)),
        CatchUp.valueOf(body.getString("catchUp", "latest").toUpperCase(Locale.ROOT)));
  }

  /** Applies a change of the shape {@link #CHANGE}, as the body of a new schedule. */
  static JsonObject changed(Schedule schedule, JsonObject change) {
    JsonObject body = view(schedule);
    List.of("id", "version", "nextAt").forEach(body::remove);
    for (String name : List.of("name", "maxAttempts", "catchUp")) {
      if (change.containsKey(name)) {
        body.put(name, change.getValue(name));
      }
    }
    if (change.containsKey("deliver")) {
      body.put(
          "deliver",
          DeliveryJson.changed(body.getJsonObject("deliver"), change.getJsonObject("deliver")));
    }
    if (change.containsKey("when")) {
      body.put("when", changedWhen(body.getJsonObject("when"), change.getJsonObject("when")));
    }
    NEW.check("", body);
    return body;
  }

  private static JsonObject changedWhen(JsonObject when, JsonObject change) {
    boolean whole = FORMS.stream().anyMatch(change::containsKey);
    JsonObject changed = whole ? change : when.copy().mergeIn(change);
    When.SHAPE.check("when", changed);
    return changed;
  }

  /**
   * For a body with {@code at}: an instant that has just passed becomes the next full second; an
   * older one is refused.
   */
  static JsonObject withTimeToCome(JsonObject body, Instant now) {
    Instant at = When.at(body.getJsonObject("when"));
    if (at.isAfter(now)) {
      return body;
    }
    if (at.isBefore(now.minus(JUST_NOW))) {
      throw Problem.invalid("when.at", "must lie in the future").asException();
    }
    return body.copy().put("when", next(now));
  }

  /** The same check at the time of writing: the instant may have passed meanwhile. */
  static NewSchedule stillToCome(NewSchedule content, Instant now) {
    JsonObject when = new JsonObject(content.spec());
    return !when.containsKey("at") || When.at(when).isAfter(now)
        ? content
        : new NewSchedule(content.name(), next(now).encode(), content.job(), content.catchUp());
  }

  private static JsonObject next(Instant now) {
    Instant next = now.truncatedTo(ChronoUnit.SECONDS).plusSeconds(1);
    return new JsonObject().put("at", next.toString());
  }
}
