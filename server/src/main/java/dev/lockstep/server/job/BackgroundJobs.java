package dev.lockstep.server.job;

import dev.lockstep.job.JobContext;
import dev.lockstep.job.JobHandler;
import dev.lockstep.job.QueueConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What a domain contributes to the job runner: its queues, its handlers and its recurring tasks.
 * Immutable; start with {@link #none} and add.
 */
public final class BackgroundJobs {
  private final List<QueueConfig> queues = new ArrayList<>();
  private final List<Kind<?>> kinds = new ArrayList<>();
  private final List<Recurring> recurring = new ArrayList<>();

  /** A recurring task. Runs on a worker thread and may take its time. */
  @FunctionalInterface
  public interface Task {
    void run(JobContext job) throws Exception;
  }

  /** A recurring task that says after each run how long to wait for the next. */
  @FunctionalInterface
  public interface PacedTask {
    Duration run(JobContext job) throws Exception;
  }

  record Kind<T>(String name, JobHandler.PayloadReader<T> reader, JobHandler<T> handler) {}

  record Recurring(String kind, Duration afterFailure, PacedTask task) {
    Recurring {
      if (afterFailure.toMillis() < 1) {
        throw new IllegalArgumentException("interval must be at least 1 ms");
      }
    }
  }

  private BackgroundJobs() {}

  public static BackgroundJobs none() {
    return new BackgroundJobs();
  }

  /** Adds a queue that every node serves. */
  public BackgroundJobs serving(QueueConfig queue) {
    BackgroundJobs copy = copy();
    copy.queues.add(queue);
    return copy;
  }

  /** Adds a handler for a kind of job with a typed payload. */
  public <T> BackgroundJobs on(
      String kind, JobHandler.PayloadReader<T> reader, JobHandler<T> handler) {
    BackgroundJobs copy = copy();
    copy.kinds.add(new Kind<>(kind, reader, handler));
    return copy;
  }

  /** Adds a handler for a kind of job that takes the raw JSON. */
  public BackgroundJobs on(String kind, JobHandler<String> handler) {
    return on(kind, json -> json, handler);
  }

  /**
   * Adds a recurring task: one node at a time runs it, an interval after the previous run has
   * ended. If it throws, the error is kept with the job and it runs again after the same interval.
   * It is one never-ending job of the queue {@link JobRunner#UPKEEP}.
   *
   * @param kind names it; there is one job per kind, however many nodes
   */
  public BackgroundJobs every(Duration interval, String kind, Task task) {
    return paced(
        interval,
        kind,
        job -> {
          task.run(job);
          return interval;
        });
  }

  /**
   * Like {@link #every}, but the task says when to run again: at once if there is more to do, later
   * if nothing is due before.
   *
   * @param afterFailure how long to wait after an exception
   */
  public BackgroundJobs paced(Duration afterFailure, String kind, PacedTask task) {
    BackgroundJobs copy = copy();
    copy.recurring.add(new Recurring(kind, afterFailure, task));
    return copy;
  }

  public BackgroundJobs and(BackgroundJobs others) {
    BackgroundJobs copy = copy();
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

  private BackgroundJobs copy() {
    BackgroundJobs copy = new BackgroundJobs();
    copy.queues.addAll(queues);
    copy.kinds.addAll(kinds);
    copy.recurring.addAll(recurring);
    return copy;
  }
}
