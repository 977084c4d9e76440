/**
 * An example of a shop's own backend: it greets people in many time zones once, on their birthday
 * at nine in the morning local time.
 *
 * <p>Start with {@link dev.lockstep.examples.birthdays.Birthdays}. It uses the server over HTTP
 * only, as any other program would: a schedule for each person, and a receiver that knows genuine
 * deliveries by their signature and repeated ones by their id. Owns no table and locks nothing.
 */
@NullMarked
package dev.lockstep.examples.birthdays;

import org.jspecify.annotations.NullMarked;
