/**
 * What long checks and periodic work share: a thread of their own. Long checks also have a row that
 * names the node that continues one, and its progress.
 *
 * <p>Start with {@link dev.lockstep.server.duty.DutyTimer}, {@link
 * dev.lockstep.server.duty.DutyThread} and {@link dev.lockstep.server.duty.DutyState}. Owns {@code
 * duty_state}: one row per duty, taken with a guarded update (free, or its holder's lease has
 * passed) and never locked beyond one statement.
 */
@NullMarked
package dev.lockstep.server.duty;

import org.jspecify.annotations.NullMarked;
