/**
 * Streams over HTTP: their definition, events appended and listed, what became of them at each
 * sink, and the relay of this node.
 *
 * <p>Owns no table. Guarantees are those of {@code dev.lockstep.outbox}: the events of a key reach
 * each sink in the order of their commits, first occurrences without a gap, and perhaps more than
 * once, then with the same sequence.
 */
@NullMarked
package dev.lockstep.server.stream;

import org.jspecify.annotations.NullMarked;
