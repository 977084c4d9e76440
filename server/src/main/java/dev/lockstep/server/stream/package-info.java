/**
 * Streams over HTTP: definitions, events appended and listed, their state at each sink, and this
 * node's relay.
 *
 * <p>Owns no table. The guarantees are those of {@code dev.lockstep.outbox}: a key's events reach
 * each sink in commit order, first occurrences without gaps, possibly repeated with the same
 * sequence.
 */
@NullMarked
package dev.lockstep.server.stream;

import org.jspecify.annotations.NullMarked;
