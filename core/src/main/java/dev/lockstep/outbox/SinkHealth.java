package dev.lockstep.outbox;

import java.util.Optional;

/**
 * A sink as a node finds it.
 *
 * @param down why nothing gets through at present; empty if it works, as far as is known
 */
public record SinkHealth(String stream, String sink, Optional<String> down) {}
