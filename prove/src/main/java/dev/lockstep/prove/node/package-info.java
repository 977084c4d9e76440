/**
 * One node of a campaign: a process that uses the library as an application does, and does what its
 * driver tells it over a pipe.
 *
 * <p>Start with {@link dev.lockstep.prove.node.NodeMain}. Each block has one class of verbs; they
 * are the only code of the prover that knows the library. The tables, states and locks are those of
 * the blocks; effects are in tables of the campaign's own.
 */
@NullMarked
package dev.lockstep.prove.node;

import org.jspecify.annotations.NullMarked;
