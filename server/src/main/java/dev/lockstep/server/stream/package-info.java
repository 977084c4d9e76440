/**
 * Streams over HTTP: definitions, events appended and listed, their state at each sink, and this
 * node's relay.
 *
 * <p>Start with {@link dev.lockstep.server.stream.Streams}; {@code EventApi} appends and lists
 * events, {@code KeyApi} shows parked keys and retries or skips, {@code WebhookSink} posts events.
 * Owns no table. States, locks and guarantees are those of {@code dev.lockstep.outbox}: a key's
 * events reach each sink in commit order, first occurrences without gaps, possibly repeated with
 * the same sequence.
 */
@NullMarked
package dev.lockstep.server.stream;

import org.jspecify.annotations.NullMarked;
