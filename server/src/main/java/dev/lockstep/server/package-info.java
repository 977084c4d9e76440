/**
 * The server: its command line, its start and stop, its HTTP face.
 *
 * <p>It composes the blocks of {@code core} on one PostgreSQL, embedded or the user's own, and
 * migrates two schemas: {@code lockstep} from the scripts that {@code core} ships, and {@code
 * lockstep_server}, whose tables belong to the packages below this one. Whatever a start has opened
 * is closed again, in reverse, when the start fails or the server is asked to stop.
 */
@NullMarked
package dev.lockstep.server;

import org.jspecify.annotations.NullMarked;
