package dev.lockstep.bench;

import java.io.IOException;

/** A benchmark is its contenders and its aims; {@link BenchCommand} does the rest. */
interface Benchmark extends AutoCloseable {
  /** Begins a benchmark. */
  @FunctionalInterface
  interface Opening {
    Benchmark open(BenchRun run) throws Exception;
  }

  /** Measures the contenders and adds the results to the run's report. */
  void measure() throws Exception;

  /** Adds the aims to the run's report, each with its measured ratio. */
  void aims();

  @Override
  default void close() throws IOException {}
}
