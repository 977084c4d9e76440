package dev.lockstep.outbox;

import java.util.List;

/** A stream with its sinks, by name. */
public record StreamView(String name, List<SinkSpec> sinks) {}
