/**
 * The parts that break, and what breaks them.
 *
 * <p>{@link dev.lockstep.prove.fault.Cluster} runs a real PostgreSQL and real nodes with a proxy in
 * front of each. {@link dev.lockstep.prove.fault.Injector} breaks them; {@link
 * dev.lockstep.prove.fault.Coverage} counts what it hit.
 */
@NullMarked
package dev.lockstep.prove.fault;

import org.jspecify.annotations.NullMarked;
