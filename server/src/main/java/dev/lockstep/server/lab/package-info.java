/**
 * The concurrency lab over HTTP: a catalogue that anyone may read, and runs where the lab is on.
 * Owns no table; the lab creates and drops its own database.
 */
@NullMarked
package dev.lockstep.server.lab;

import org.jspecify.annotations.NullMarked;
