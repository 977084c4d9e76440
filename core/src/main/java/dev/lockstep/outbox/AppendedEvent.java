package dev.lockstep.outbox;

/**
 * An event's place; final once the transaction commits.
 *
 * @param seq its position in its key: 1, 2, 3 …
 */
public record AppendedEvent(String stream, String key, long seq) {}
