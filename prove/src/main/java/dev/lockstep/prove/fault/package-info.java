/**
 * The parts that break, and what breaks them.
 *
 * <p>Start with {@link dev.lockstep.prove.fault.Cluster}: it runs a real PostgreSQL and real nodes
 * with a proxy in front of each. {@link dev.lockstep.prove.fault.Breakers} breaks them, several at
 * a time; {@link dev.lockstep.prove.fault.Coverage} counts what it hit. Owns the tables of schema
 * {@code prove}, which hold effects; a fault may lock tables of the blocks for a while.
 */
@NullMarked
package dev.lockstep.prove.fault;

import org.jspecify.annotations.NullMarked;
