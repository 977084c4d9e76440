/**
 * What code of yours gets when Lockstep calls it inside a transaction.
 *
 * <p>Start with {@link dev.lockstep.work.OpenTransaction}, the only type. It stands apart from the
 * transactor, so that the statement plumbing below the transactor can implement it.
 *
 * <p>Owns no table, locks no row and depends on no other package.
 */
@NullMarked
package dev.lockstep.work;

import org.jspecify.annotations.NullMarked;
