/**
 * Mail, through the SMTP server that the configuration names.
 *
 * <p>Start with {@link dev.lockstep.server.mail.Mailer}. Owns no table and locks nothing.
 * Guarantees: malformed addresses and headers are refused before anything is sent; a message goes
 * to all its recipients or to none; every attempt ends in bounded time and tells whether a retry
 * makes sense.
 */
@NullMarked
package dev.lockstep.server.mail;

import org.jspecify.annotations.NullMarked;
