/**
 * Benchmarks: Lockstep, its peers and the ceiling, in one process run, on one database, fsync on.
 *
 * <p>Every contender's result is checked against its database before its number is printed; a
 * number whose books do not balance is no number.
 *
 * <p>A {@link dev.lockstep.bench.Benchmark} is its contenders and its aims, and one line in {@link
 * dev.lockstep.bench.Bench}. {@link dev.lockstep.bench.BenchCommand} gives it options, a database,
 * a report and an exit code; {@link dev.lockstep.bench.BenchRun} has the ways to measure.
 */
@NullMarked
package dev.lockstep.bench;

import org.jspecify.annotations.NullMarked;
