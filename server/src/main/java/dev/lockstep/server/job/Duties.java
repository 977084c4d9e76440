package dev.lockstep.server.job;

import dev.lockstep.job.JobContext;
import dev.lockstep.job.JobHandler;
import dev.lockstep.job.QueueConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What a domain has done by jobs: the queues it needs, who runs its kinds of job, and what recurs.
 * Immutable; begin with {@link #none} and add.
 */
public final class Duties {
  private final List<QueueConfig> queues = new ArrayList<>();
  private final List<Kind<?>> kinds = new ArrayList<>();
  private final List<Recurring> recurring = new ArrayList<>();

  /** Something done again and again. Runs on a thread of the worker, and may take its time. */
  @FunctionalInterface
  public interface Task {
    void run(JobContext job) throws Exception;
  }

  /** The same, and says after each time how long to wait for the next. */
  @FunctionalInterface
  public interface PacedTask {
    Duration run(JobContext job) throws Exception;
  }

  record Kind<T>(String name, JobHandler.PayloadReader<T> reader, JobHandler<T> handler) {}

  record Recurring(String kind, Duration afterFailure, PacedTask task) {
    Recurring {
      if (afterFailure.toMillis() < 1) {
        throw new IllegalArgumentException("An interval is at least 1 ms");
      }
    }
  }

  private Duties() {}

  public static Duties none() {
    return new Duties();
  }

  /** With a queue that every node serves. */
  public Duties serving(QueueConfig queue) {
    Duties copy = copy();
    copy.queues.add(queue);
    return copy;
  }

  /** With a handler for one more kind of job, whose payload it wants read. */
  public <T> Duties on(String kind, JobHandler.PayloadReader<T> reader, JobHandler<T> handler) {
    Duties copy = copy();
    copy.kinds.add(new Kind<>(kind, reader, handler));
    return copy;
  }

  /** With a handler for one more kind of job, that takes the JSON as it is. */
  public Duties on(String kind, JobHandler<String> handler) {
    return on(kind, json -> json, handler);
  }

  /**
   * With something that is done again and again: by one node at a time, and again so long after the
   * last time has ended. When it throws, the error is kept with the job, and it comes again after
   * the same time. It is one job of the queue {@link JobRunner#UPKEEP}, which never ends.
   *
   * @param kind names it; there is one job of it, however many nodes
   */
  public Duties every(Duration interval, String kind, Task task) {
    return paced(
        interval,
        kind,
        job -> {
          task.run(job);
          return interval;
        });
  }

  /**
   * As {@link #every}, but the task itself says when to come again: at once when there is more to
   * do, late when it knows that nothing will be due before.
   *
   * @param afterFailure how long to wait when it throws
   */
  public Duties paced(Duration afterFailure, String kind, PacedTask task) {
    Duties copy = copy();
    copy.recurring.add(new Recurring(kind, afterFailure, task));
    return copy;
  }

  public Duties and(Duties others) {
    Duties copy = copy();
    copy.queues.addAll(others.queues);
    copy.kinds.addAll(others.kinds);
    copy.recurring.addAll(others.recurring);
    return copy;
  }

  List<QueueConfig> queues() {
    return List.copyOf(queues);
  }

  List<Kind<?>> kinds() {
    return List.copyOf(kinds);
  }

  List<Recurring> recurring() {
    return List.copyOf(recurring);
  }

  private Duties copy() {
    Duties copy = new Duties();
    copy.queues.addAll(queues);
    copy.kinds.addAll(kinds);
    copy.recurring.addAll(recurring);
    return copy;
  }
}
