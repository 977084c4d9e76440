/**
 * Visitors: how the built-in shop sells to people without an account.
 *
 * <p>Start with {@link dev.lockstep.server.visitor.Visitors}, the only type. Owns no table and
 * locks nothing. A visitor is a buyer with an ordinary key: it expires, counts against the buyers'
 * rate limit and can be revoked. Only its transport differs: a cookie that scripts cannot read and
 * that counts only in requests from the shop's own pages.
 */
@NullMarked
package dev.lockstep.server.visitor;

import org.jspecify.annotations.NullMarked;
