/**
 * The bank of the built-in payment gateway, where the holder of a test card approves or refuses a
 * payment with 3-D Secure. With a real provider, the cardholder's own bank asks instead. Owns no
 * table.
 */
@NullMarked
package dev.lockstep.server.bank;

import org.jspecify.annotations.NullMarked;
