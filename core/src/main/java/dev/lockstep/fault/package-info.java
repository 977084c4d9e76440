/**
 * What callers catch: every exception that Lockstep throws for a fault.
 *
 * <p>Start with {@link dev.lockstep.fault.LockstepException}. Its three subtypes tell the caller
 * what to do next:
 *
 * <ul>
 *   <li>{@link dev.lockstep.fault.TransientFault}: retry the same call later.
 *   <li>{@link dev.lockstep.fault.PermanentFault}: do not retry it.
 *   <li>{@link dev.lockstep.fault.OutcomeUnknown}: look the effect up first.
 * </ul>
 *
 * <p>{@link dev.lockstep.fault.SqlFault} is the only class that reads SQLSTATE. Expected outcomes
 * (sold out, limit reached) are result values instead, in the packages that decide them.
 *
 * <p>Owns no table, locks no row and depends on no other package.
 */
@NullMarked
package dev.lockstep.fault;

import org.jspecify.annotations.NullMarked;
