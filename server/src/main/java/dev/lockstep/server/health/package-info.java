/**
 * The health of the database: who waits for whom, what is old, what is dirty, what failed.
 *
 * <p>Owns no table; reads PostgreSQL's own views, with what the server's role may see there. Locks
 * nothing.
 */
@NullMarked
package dev.lockstep.server.health;

import org.jspecify.annotations.NullMarked;
