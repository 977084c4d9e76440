package dev.lockstep.job;

import dev.lockstep.tx.StorableText;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A job to enqueue. Start from {@link #of} and change what differs.
 *
 * @param queue where it waits; its workers, pause and rate are the queue's
 * @param kind which handler runs it
 * @param payload JSON, up to the size configured
 * @param runAt when it is due; empty: at once
 * @param priority among the due jobs of its queue; NORMAL for a job of a lane
 * @param lane jobs of the same lane run one at a time, in order
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
   * Jobs with the same key in the same queue: at most {@code limit} at a time. With a limit of one
   * they run in the order of their due times, those of one moment in the order they were enqueued;
   * one that is retried keeps its place, and the others wait.
   */
  public record Lane(String key, int limit) {
    public static final int MAX_LIMIT = 1_000;

    public Lane {
      Names.require("A lane", key);
      if (limit < 1 || limit > MAX_LIMIT) {
        throw new IllegalArgumentException("A lane's limit is 1 to %d".formatted(MAX_LIMIT));
      }
    }

    boolean isOrdered() {
      return limit == 1;
    }
  }

  /**
   * A key that one job of a queue may have.
   *
   * @param period empty: while the job is live; else for so long after it was enqueued, even when
   *     the job has ended
   */
  public record UniqueKey(String key, Optional<Duration> period) {
    private static final Duration MAX_PERIOD = Duration.ofDays(3650);

    public UniqueKey {
      Names.require("A unique key", key);
      if (period.isPresent()
          && (period.get().toMillis() < 1 || period.get().compareTo(MAX_PERIOD) > 0)) {
        throw new IllegalArgumentException("A period is 1 ms to ten years");
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
    Names.require("A queue", queue);
    Names.require("A kind", kind);
    if (!StorableText.is(payload)) {
      throw new IllegalArgumentException("The payload has NUL or half a character in it");
    }
    runAt.ifPresent(NewJob::requireTime);
    if (maxAttempts < 1 || maxAttempts > MAX_ATTEMPTS) {
      throw new IllegalArgumentException("maxAttempts is 1 to %d".formatted(MAX_ATTEMPTS));
    }
    if (lane.isPresent() && priority != Priority.NORMAL) {
      throw new IllegalArgumentException(
          "A lane promises an order, which a priority would break: leave it NORMAL");
    }
  }

  static void requireTime(Instant runAt) {
    if (runAt.isBefore(Instant.EPOCH) || !runAt.isBefore(END_OF_TIME)) {
      throw new IllegalArgumentException("runAt is from 1970 to 9999");
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

  /** One at a time, in order. */
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
