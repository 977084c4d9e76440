package dev.lockstep.outbox;

/**
 * For what a session is opened.
 *
 * @param epoch grows with every change of the partition's owner, over all nodes
 */
public record Tenure(String stream, String sink, int partition, long epoch) {}
