/**
 * Invariants over HTTP, and every minute as a job: core does the check, the hold block does the
 * pause. Owns {@code invariant_report}, one row with the latest report.
 */
@NullMarked
package dev.lockstep.server.invariant;

import org.jspecify.annotations.NullMarked;
