/**
 * Benchmarks: Lockstep, its peers and the ceiling, in one process run, on one database, fsync on.
 *
 * <p>Every contender's result is checked against its database before its number is printed; a
 * number whose books do not balance is no number.
 */
@NullMarked
package dev.lockstep.bench;

import org.jspecify.annotations.NullMarked;
