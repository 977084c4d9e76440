/**
 * Invariants over HTTP and on a timer: the check itself is core's, the pause is the hold block's.
 * Owns no table.
 */
@NullMarked
package dev.lockstep.server.invariant;

import org.jspecify.annotations.NullMarked;
