/**
 * The health of the database: lock waits, old transactions, dead rows and failures, each with
 * advice.
 *
 * <p>Start with {@link dev.lockstep.server.health.DatabaseHealth}; {@code HealthReader} has the
 * queries, {@code Measure} what each finding means and what to do. Owns no table; reads
 * PostgreSQL's own views, as far as the server's role may. Locks nothing.
 */
@NullMarked
package dev.lockstep.server.health;

import org.jspecify.annotations.NullMarked;
