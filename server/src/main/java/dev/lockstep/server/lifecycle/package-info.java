/**
 * Start and stop: what a part has opened ({@link dev.lockstep.server.lifecycle.Opened}) is closed
 * newest first; a stop has a time in all, and each stage its share of it ({@link
 * dev.lockstep.server.lifecycle.StopTime}); a signal ends the thread that started the server, in
 * order ({@link dev.lockstep.server.lifecycle.StopRequest}).
 *
 * <p>{@link dev.lockstep.server.lifecycle.CannotStart} and {@link
 * dev.lockstep.server.lifecycle.WrongUse} are the two ways not to start: each has one line for the
 * user. Owns no table.
 */
@NullMarked
package dev.lockstep.server.lifecycle;

import org.jspecify.annotations.NullMarked;
