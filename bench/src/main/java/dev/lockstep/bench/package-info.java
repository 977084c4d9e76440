/**
 * Benchmarks: Lockstep, its peers and the ceiling, in one run, on one database, fsync on.
 *
 * <p>Start with {@link dev.lockstep.bench.Benchmark}: a benchmark is its contenders and its aims,
 * and one line in {@link dev.lockstep.bench.Bench}. {@link dev.lockstep.bench.BenchCommand} gives
 * it options, a database, a report and an exit code; {@link dev.lockstep.bench.BenchRun} has the
 * ways to measure.
 *
 * <p>Every contender's result is checked against its database before its number is printed; a
 * result that does not add up is not reported. Contenders create their own tables; no table of
 * Lockstep's is owned here, and no lock order applies to them.
 */
@NullMarked
package dev.lockstep.bench;

import org.jspecify.annotations.NullMarked;
