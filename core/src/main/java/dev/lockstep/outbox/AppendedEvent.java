package dev.lockstep.outbox;

/**
 * An event's key and its sequence there; final once the transaction commits.
 *
 * @param seq its position in its key: 1, 2, 3 …
 */
public record AppendedEvent(String stream, String key, long seq) {}
