/**
 * Visitors: how the built-in shop sells to people without an account.
 *
 * <p>Owns no table: a visitor is a buyer with a key like any other, which expires, counts against
 * the rate limit of buyers and can be revoked. Only the way the key travels differs: in a cookie
 * that no script can read and that counts only in requests of the shop's own pages.
 */
@NullMarked
package dev.lockstep.server.visitor;

import org.jspecify.annotations.NullMarked;
