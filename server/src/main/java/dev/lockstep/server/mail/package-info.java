/**
 * Mail, through one SMTP server that the configuration names.
 *
 * <p>Owns no table. Promises: what can be known to be no address, or no header, is refused before
 * anything is sent; a message goes to all its recipients or to none; every attempt ends in bounded
 * time and says whether another makes sense.
 */
@NullMarked
package dev.lockstep.server.mail;

import org.jspecify.annotations.NullMarked;
