package dev.lockstep.job;

/**
 * Runs the jobs of one kind. Several threads call it at once. {@link Worker#close} interrupts it
 * after the stop timeout.
 *
 * @param <T> the type the payload is parsed to
 */
@FunctionalInterface
public interface JobHandler<T> {
  Outcome run(T payload, JobContext job) throws Exception;

  /** Parses a payload. Core brings no JSON library of its own. */
  @FunctionalInterface
  interface PayloadReader<T> {
    T read(String json) throws Exception;
  }
}
