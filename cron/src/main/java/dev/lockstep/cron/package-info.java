/**
 * Cron expressions as {@link dev.lockstep.job.LocalTimes}, in a module of their own because core
 * takes no dependencies. Entry type: {@link dev.lockstep.cron.CronTimes}.
 *
 * <p>Owns no tables, takes no locks. The cron library computes local times only; {@link
 * dev.lockstep.job.Recurrence} handles zones and clock changes. Reasons:
 * docs/adr/014-recurrence.md.
 */
@NullMarked
package dev.lockstep.cron;

import org.jspecify.annotations.NullMarked;
