/**
 * The concurrency lab: races between transactions, played on a real PostgreSQL by scripted sessions
 * and judged by what they saw.
 *
 * <p>Entry type: {@link dev.lockstep.lab.Lab}. Read {@code Player} (how a script is played) and one
 * of the stories, {@code SaleStories} for example, next. Users' page: docs/lab.md; reasons:
 * docs/adr/019-lab.md.
 *
 * <p>Each session has its own connection and thread. A step begins only when every other session
 * has finished its own or is <i>proved</i> to wait: {@code pg_blocking_pids} names a session of the
 * same run. So a scenario interleaves in one way, on fast and slow machines alike, and nothing in
 * it sleeps.
 *
 * <p>Owns no table of Lockstep's. It uses its own database and role, created at the first run and
 * dropped at the end. It runs its catalogue's SQL only, never a caller's.
 */
@NullMarked
package dev.lockstep.lab;

import org.jspecify.annotations.NullMarked;
