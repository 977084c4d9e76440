/**
 * The concurrency lab: races of transactions, played on a real PostgreSQL by scripted sessions, and
 * judged by what the sessions saw.
 *
 * <p>Each session has its own connection and thread. A step is begun only when every other session
 * has finished its own or is <i>proved</i> to wait: {@code pg_blocking_pids} names a session of the
 * same run. So a scenario interleaves in one way, on a fast machine and on a slow one, and nothing
 * in it sleeps.
 *
 * <p>Owns no table of Lockstep's. It runs in a database and under a role of its own, both made at
 * the first run and dropped at the end; the SQL it runs is its own catalogue's, never a caller's.
 */
@NullMarked
package dev.lockstep.lab;

import org.jspecify.annotations.NullMarked;
