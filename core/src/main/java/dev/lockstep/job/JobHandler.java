package dev.lockstep.job;

/**
 * Runs the jobs of one kind. Called by several threads at once. It is interrupted when the worker
 * is closed and its time is up.
 *
 * @param <T> what the payload is read as
 */
@FunctionalInterface
public interface JobHandler<T> {
  Outcome run(T payload, JobContext job) throws Exception;

  /** How JSON becomes the type a handler wants; core brings no JSON library of its own. */
  @FunctionalInterface
  interface Reader<T> {
    T read(String json) throws Exception;
  }
}
