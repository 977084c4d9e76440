/**
 * Judges a history: what the clients saw, and nothing else.
 *
 * <p>Start with {@link dev.lockstep.prove.check.Checker}: it splits a history into parts that can
 * be judged alone, and looks for one kind of broken promise in each. {@code Linearizer} searches
 * for an order that explains all answers. A history that breaks none of the rules is not thereby
 * correct; one that breaks a rule is certainly wrong. Owns no table and locks nothing.
 */
@NullMarked
package dev.lockstep.prove.check;

import org.jspecify.annotations.NullMarked;
