/**
 * Judges a history: what the clients saw, and nothing else.
 *
 * <p>Each {@link dev.lockstep.prove.check.Checker} splits a history into parts that can be judged
 * alone, and looks for one kind of broken promise in each. A history that breaks none of the rules
 * is not thereby correct; one that breaks a rule is certainly wrong.
 */
@NullMarked
package dev.lockstep.prove.check;

import org.jspecify.annotations.NullMarked;
