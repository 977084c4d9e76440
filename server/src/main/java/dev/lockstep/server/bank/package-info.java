/**
 * The bank of the built-in payment gateway, where the holder of a test card approves or refuses a
 * payment with 3-D Secure. With a real provider, the cardholder's own bank asks instead.
 *
 * <p>Start with {@link dev.lockstep.server.bank.TestBank}, the only type. Owns no table and locks
 * nothing: the gateway's event moves the purchase on, as with a real bank.
 */
@NullMarked
package dev.lockstep.server.bank;

import org.jspecify.annotations.NullMarked;
