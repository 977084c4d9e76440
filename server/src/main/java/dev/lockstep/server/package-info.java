/**
 * The server: its command line, start and stop, and HTTP.
 *
 * <p>It runs the blocks of {@code core} on one PostgreSQL, embedded or the user's own, and migrates
 * two schemas: {@code lockstep}, from the scripts in {@code core}, and {@code lockstep_server},
 * whose tables belong to the packages below this one. When a start fails or the server stops, it
 * closes everything it has opened, in reverse. Read {@link dev.lockstep.server.Server} first.
 */
@NullMarked
package dev.lockstep.server;

import org.jspecify.annotations.NullMarked;
