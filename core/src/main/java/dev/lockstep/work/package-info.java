/**
 * What your code gets when Lockstep calls it inside a transaction.
 *
 * <p>Start with {@link dev.lockstep.work.OpenTransaction}, the only type. It has its own package so
 * that {@code sql}, below the transactor, can implement it.
 *
 * <p>Owns no table, locks no row and depends on no other package.
 */
@NullMarked
package dev.lockstep.work;

import org.jspecify.annotations.NullMarked;
