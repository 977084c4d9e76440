/**
 * An example of a shop's own backend: people in many time zones are greeted on their birthday, at
 * nine in the morning where they live, once.
 *
 * <p>Start with {@link dev.lockstep.examples.birthdays.Birthdays}. It uses the server over HTTP
 * only, as any other program would: a schedule for each person, and a receiver that knows genuine
 * deliveries by their signature and repeated ones by their id. Owns no table and locks nothing.
 */
@NullMarked
package dev.lockstep.examples.birthdays;

import org.jspecify.annotations.NullMarked;
