/**
 * What the clients saw: every call with its start, its end and its answer, on one clock.
 *
 * <p>Start with {@link dev.lockstep.prove.history.History}. Checkers read it and nothing else. Owns
 * no table and locks nothing.
 */
@NullMarked
package dev.lockstep.prove.history;

import org.jspecify.annotations.NullMarked;
