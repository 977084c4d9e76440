/**
 * The health of the database: lock waits, old transactions, dead rows and failures.
 *
 * <p>Owns no table; reads PostgreSQL's own views, as far as the server's role may. Locks nothing.
 */
@NullMarked
package dev.lockstep.server.health;

import org.jspecify.annotations.NullMarked;
