/**
 * What the clients of a campaign do.
 *
 * <p>Start with {@link dev.lockstep.prove.work.Workload}: it prepares, lets every client take steps
 * while faults happen, and reads everything once the work has stopped. What a client does depends
 * on its seed and on the answers it gets. Owns no table and locks nothing; nodes do.
 */
@NullMarked
package dev.lockstep.prove.work;

import org.jspecify.annotations.NullMarked;
