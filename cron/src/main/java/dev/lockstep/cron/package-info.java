/**
 * Cron expressions as {@link dev.lockstep.job.LocalTimes}, apart from core, which takes no library.
 *
 * <p>Owns no table. The library is asked for local times only; zones and changes of clocks are left
 * to {@link dev.lockstep.job.Recurrence}.
 */
@NullMarked
package dev.lockstep.cron;

import org.jspecify.annotations.NullMarked;
