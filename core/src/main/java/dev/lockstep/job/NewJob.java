package dev.lockstep.job;

import dev.lockstep.sql.StorableText;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A job to enqueue. Start from {@link #of} and change what differs.
 *
 * @param queue where it waits; workers, pause and rate belong to the queue
 * @param kind selects the handler
 * @param payload JSON, up to the configured size
 * @param runAt when it is due; empty: at once
 * @param priority among the due jobs of its queue; must be NORMAL for a job of a lane
 * @param lane limits how many jobs with the same key run at a time; with a limit of 1, in order
 * @param unique refuses a second job with the same key
 * @param maxAttempts attempts before it is dead (10)
 */
public record NewJob(
    String queue,
    String kind,
    String payload,
    Optional<Instant> runAt,
    Priority priority,
    Optional<Lane> lane,
    Optional<UniqueKey> unique,
    int maxAttempts) {
  public static final int MAX_ATTEMPTS = 1_000;
  static final int USUAL_MAX_ATTEMPTS = 10;
  private static final Instant END_OF_TIME = Instant.parse("9999-12-31T00:00:00Z");

  /**
   * At most {@code limit} jobs with the same key in the same queue run at a time. With a limit of 1
   * they run in due order, and jobs due at the same moment in the order they were enqueued. A job
   * that is retried keeps its place, and the others wait for it.
   */
  public record Lane(String key, int limit) {
    public static final int MAX_LIMIT = 1_000;

    public Lane {
      NameRule.require("A lane", key);
      if (limit < 1 || limit > MAX_LIMIT) {
        throw new IllegalArgumentException("A lane's limit must be 1 to %d".formatted(MAX_LIMIT));
      }
    }

    boolean isOrdered() {
      return limit == 1;
    }
  }

  /**
   * A key that only one job of a queue may hold.
   *
   * @param period empty: held while the job is live; otherwise for this long after it was enqueued,
   *     even if the job has ended
   */
  public record UniqueKey(String key, Optional<Duration> period) {
    private static final Duration MAX_PERIOD = Duration.ofDays(3650);

    public UniqueKey {
      NameRule.require("A unique key", key);
      if (period.isPresent()
          && (period.get().toMillis() < 1 || period.get().compareTo(MAX_PERIOD) > 0)) {
        throw new IllegalArgumentException("A unique key's period must be 1 ms to ten years");
      }
    }

    public static UniqueKey whileLive(String key) {
      return new UniqueKey(key, Optional.empty());
    }

    public static UniqueKey per(Duration period, String key) {
      return new UniqueKey(key, Optional.of(period));
    }
  }

  public NewJob {
    NameRule.require("A queue", queue);
    NameRule.require("A kind", kind);
    if (!StorableText.is(payload)) {
      throw new IllegalArgumentException("A payload must not have NUL or half characters");
    }
    runAt.ifPresent(NewJob::requireTime);
    if (maxAttempts < 1 || maxAttempts > MAX_ATTEMPTS) {
      throw new IllegalArgumentException("maxAttempts must be 1 to %d".formatted(MAX_ATTEMPTS));
    }
    if (lane.isPresent() && priority != Priority.NORMAL) {
      throw new IllegalArgumentException(
          "A job of a lane must have priority NORMAL: another would break the lane's order");
    }
  }

  static void requireTime(Instant runAt) {
    if (runAt.isBefore(Instant.EPOCH) || !runAt.isBefore(END_OF_TIME)) {
      throw new IllegalArgumentException("runAt must be from 1970 to 9999");
    }
  }

  public static NewJob of(String queue, String kind, String payload) {
    return new NewJob(
        queue,
        kind,
        payload,
        Optional.empty(),
        Priority.NORMAL,
        Optional.empty(),
        Optional.empty(),
        USUAL_MAX_ATTEMPTS);
  }

  public NewJob at(Instant runAt) {
    return new NewJob(
        queue, kind, payload, Optional.of(runAt), priority, lane, unique, maxAttempts);
  }

  public NewJob withPriority(Priority priority) {
    return new NewJob(queue, kind, payload, runAt, priority, lane, unique, maxAttempts);
  }

  /** In a lane with limit 1: one at a time, in order. */
  public NewJob inLane(String key) {
    return inLane(new Lane(key, 1));
  }

  public NewJob inLane(Lane lane) {
    return new NewJob(
        queue, kind, payload, runAt, priority, Optional.of(lane), unique, maxAttempts);
  }

  public NewJob withUnique(UniqueKey unique) {
    return new NewJob(
        queue, kind, payload, runAt, priority, lane, Optional.of(unique), maxAttempts);
  }

  public NewJob withMaxAttempts(int maxAttempts) {
    return new NewJob(queue, kind, payload, runAt, priority, lane, unique, maxAttempts);
  }
}
