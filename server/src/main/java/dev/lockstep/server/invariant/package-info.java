/**
 * Invariants over HTTP and every minute as a job: the check itself is core's, the pause is the hold
 * block's. Owns {@code invariant_report}, one row with the latest report.
 */
@NullMarked
package dev.lockstep.server.invariant;

import org.jspecify.annotations.NullMarked;
