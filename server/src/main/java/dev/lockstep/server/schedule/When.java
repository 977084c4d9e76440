package dev.lockstep.server.schedule;

import dev.lockstep.cron.CronTimes;
import dev.lockstep.job.LocalTimes;
import dev.lockstep.job.Recurrence;
import dev.lockstep.job.Recurrence.Gap;
import dev.lockstep.job.Recurrence.Overlap;
import dev.lockstep.job.Yearly.LeapDay;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.ProblemException;
import dev.lockstep.server.api.Shape;
import io.vertx.core.json.JsonObject;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;

/**
 * When a schedule runs, in the API's terms: {@code at}, {@code cron} or {@code yearly}. The same
 * JSON is stored as the schedule's spec, so the API shows what was asked for.
 */
final class When {
  private static final int MAX_REASON = 200;
  private static final int FIRST_YEAR = 1971;
  private static final int LAST_YEAR = 9998;

  private static final ObjectShape IN_A_ZONE =
      Shape.object()
          .required("zone", Shape.text(1, 64))
          .optional("gap", Shape.choice("skip", "next"))
          .optional("overlap", Shape.choice("first", "last", "both"));

  /** Exactly one of three forms. */
  static final Shape SHAPE =
      Shape.oneOfHaving(
          Map.of(
              "at", Shape.object().required("at", Shape.time()),
              "cron", IN_A_ZONE.required("cron", Shape.text(1, CronTimes.MAX_LENGTH)),
              "yearly",
                  IN_A_ZONE
                      .required("yearly", Shape.text(5, 5))
                      .required("time", Shape.text(5, 8))
                      .optional("leapDay", Shape.choice("feb28", "mar1"))));

  private When() {}

  /** Reads a schedule's spec. */
  static Recurrence read(String spec) {
    return recurrence(new JsonObject(spec));
  }

  /**
   * Reads a value of this shape.
   *
   * @throws ProblemException that names the invalid part
   */
  static Recurrence recurrence(JsonObject when) {
    if (when.containsKey("at")) {
      return new Recurrence(once(at(when)), ZoneOffset.UTC, Gap.NEXT, Overlap.FIRST);
    }
    Gap gap = when.getString("gap", "next").equals("skip") ? Gap.SKIP : Gap.NEXT;
    Overlap overlap =
        switch (when.getString("overlap", "first")) {
          case "last" -> Overlap.LAST;
          case "both" -> Overlap.BOTH;
          default -> Overlap.FIRST;
        };
    LocalTimes times = when.containsKey("cron") ? cron(when.getString("cron")) : yearly(when);
    return new Recurrence(times, zone(when.getString("zone")), gap, overlap);
  }

  /** With the database's precision. */
  static Instant at(JsonObject when) {
    OffsetDateTime at =
        OffsetDateTime.parse(when.getString("at")).withOffsetSameInstant(ZoneOffset.UTC);
    if (at.getYear() < FIRST_YEAR || at.getYear() > LAST_YEAR) {
      throw invalid(
          "at", "must lie between the years " + FIRST_YEAR + " and " + LAST_YEAR + ", in UTC");
    }
    return at.toInstant().truncatedTo(ChronoUnit.MICROS);
  }

  /** Fills in all defaults. */
  static JsonObject complete(JsonObject when) {
    JsonObject complete = when.copy();
    if (when.containsKey("at")) {
      return complete.put("at", at(when).toString());
    }
    complete.put("gap", when.getString("gap", "next"));
    complete.put("overlap", when.getString("overlap", "first"));
    if (when.containsKey("yearly")) {
      complete.put("leapDay", when.getString("leapDay", "feb28"));
    }
    return complete;
  }

  private static LocalTimes once(Instant at) {
    LocalDateTime local = LocalDateTime.ofInstant(at, ZoneOffset.UTC);
    return after -> local.isAfter(after) ? Optional.of(local) : Optional.empty();
  }

  private static LocalTimes cron(String expression) {
    try {
      return CronTimes.parse(expression);
    } catch (IllegalArgumentException e) {
      String reason = String.valueOf(e.getMessage());
      throw invalid(
          "cron",
          "is not a cron expression of five fields: "
              + reason.substring(0, Math.min(MAX_REASON, reason.length())));
    }
  }

  private static LocalTimes yearly(JsonObject when) {
    LeapDay leapDay =
        when.getString("leapDay", "feb28").equals("mar1") ? LeapDay.MAR_1 : LeapDay.FEB_28;
    return LocalTimes.yearly(date(when.getString("yearly")), time(when.getString("time")), leapDay);
  }

  private static MonthDay date(String text) {
    try {
      return MonthDay.parse("--" + text);
    } catch (DateTimeException e) {
      throw invalid("yearly", "must be a date of any year such as 02-29, month first");
    }
  }

  private static LocalTime time(String text) {
    try {
      return LocalTime.parse(text);
    } catch (DateTimeException e) {
      throw invalid("time", "must be a time of day such as 09:00");
    }
  }

  private static ZoneId zone(String text) {
    try {
      return ZoneId.of(text);
    } catch (DateTimeException e) {
      throw invalid("zone", "must be a time zone such as Asia/Tokyo; there is no '" + text + "'");
    }
  }

  private static ProblemException invalid(String field, String why) {
    return Problem.invalid("when." + field, why).asException();
  }
}
