package dev.lockstep.outbox;

/**
 * An event's place, final if and when the transaction commits.
 *
 * @param seq in its key: 1, 2, 3 …
 */
public record Appended(String stream, String key, long seq) {}
