/**
 * The server: its command line, its start and stop, its HTTP face.
 *
 * <p>It composes the blocks of {@code core} on one PostgreSQL, embedded or the user's own, and owns
 * no table itself: schema {@code lockstep} is migrated from the scripts that {@code core} ships.
 * Whatever a start has opened is closed again, in reverse, when the start fails or the server is
 * asked to stop.
 */
@NullMarked
package dev.lockstep.server;

import org.jspecify.annotations.NullMarked;
