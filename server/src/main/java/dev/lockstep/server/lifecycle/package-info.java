/**
 * Start and stop. Start with {@link dev.lockstep.server.lifecycle.Opened}: what a part has opened
 * is closed newest first. A stop has a total time, and each stage a deadline in it ({@link
 * dev.lockstep.server.lifecycle.StopTime}). On a signal, the thread that started the server also
 * closes it ({@link dev.lockstep.server.lifecycle.StopRequest}).
 *
 * <p>{@link dev.lockstep.server.lifecycle.CannotStart} and {@link
 * dev.lockstep.server.lifecycle.WrongUse} are the two ways not to start: each has one line for the
 * user. Owns no table and locks nothing.
 */
@NullMarked
package dev.lockstep.server.lifecycle;

import org.jspecify.annotations.NullMarked;
