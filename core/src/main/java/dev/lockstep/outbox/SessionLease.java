package dev.lockstep.outbox;

/**
 * Identifies what a session is opened for.
 *
 * @param epoch grows with every change of the partition's owner, over all nodes
 */
public record SessionLease(String stream, String sink, int partition, long epoch) {}
