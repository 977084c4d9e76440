/**
 * The concurrency lab over HTTP: a catalogue that anyone may read, and runs where the lab is on.
 *
 * <p>Start with {@link dev.lockstep.server.lab.LabRuns}; what it plays is in {@code
 * dev.lockstep.lab}. Owns no table and locks none of ours; the lab creates and drops its own
 * database.
 */
@NullMarked
package dev.lockstep.server.lab;

import org.jspecify.annotations.NullMarked;
