package dev.lockstep.cron;

import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import dev.lockstep.job.LocalTimes;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Optional;

/**
 * The times of a five-field crontab expression: minute, hour, day of month, month, day of week (0
 * and 7 are Sunday). If both days are restricted, either one suffices. Immutable and thread-safe.
 */
public final class CronTimes implements LocalTimes {
  public static final int MAX_LENGTH = 200;

  private final String expression;
  private final ExecutionTime times;

  private CronTimes(String expression, ExecutionTime times) {
    this.expression = expression;
    this.times = times;
  }

  /**
   * Parses an expression.
   *
   * @throws IllegalArgumentException if it is invalid, or never matches, such as 30 February
   */
  public static CronTimes parse(String expression) {
    if (expression.length() > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "A cron expression is at most %d characters".formatted(MAX_LENGTH));
    }
    CronParser parser = new CronParser(CronDefinitionBuilder.instanceDefinitionFor(CronType.UNIX));
    CronTimes parsed =
        new CronTimes(expression, ExecutionTime.forCron(parser.parse(expression).validate()));
    if (parsed.next(LocalDateTime.of(2000, 1, 1, 0, 0)).isEmpty()) {
      throw new IllegalArgumentException("This cron expression never matches a time");
    }
    return parsed;
  }

  /** UTC stands for "no zone": its clock never changes. */
  @Override
  public Optional<LocalDateTime> next(LocalDateTime after) {
    return times.nextExecution(after.atZone(ZoneOffset.UTC)).map(ZonedDateTime::toLocalDateTime);
  }

  @Override
  public String toString() {
    return expression;
  }
}
