/**
 * What the clients of a campaign do.
 *
 * <p>A {@link dev.lockstep.prove.work.Workload} prepares its things, lets every client take steps
 * while faults happen, and reads everything once all stands still. What a client does depends on
 * its seed and on the answers it gets.
 */
@NullMarked
package dev.lockstep.prove.work;

import org.jspecify.annotations.NullMarked;
