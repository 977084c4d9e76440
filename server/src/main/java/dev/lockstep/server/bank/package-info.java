/**
 * The bank of the built-in payment gateway: where the holder of a test card approves or refuses a
 * payment that asks for 3-D Secure. With a real provider it is the cardholder's own bank that asks,
 * and this has nothing to say. Owns no table.
 */
@NullMarked
package dev.lockstep.server.bank;

import org.jspecify.annotations.NullMarked;
