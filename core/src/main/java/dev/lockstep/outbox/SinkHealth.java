package dev.lockstep.outbox;

import java.util.Optional;

/**
 * A sink's health as one node sees it.
 *
 * @param down why nothing gets through; empty if it works, as far as the node knows
 */
public record SinkHealth(String stream, String sink, Optional<String> down) {}
