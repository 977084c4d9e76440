/**
 * The concurrency lab over HTTP: its catalogue for anyone to read, and runs of it where the lab is
 * on. Owns no table; the lab brings its own database, and drops it.
 */
@NullMarked
package dev.lockstep.server.lab;

import org.jspecify.annotations.NullMarked;
