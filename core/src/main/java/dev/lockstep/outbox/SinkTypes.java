package dev.lockstep.outbox;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** The kinds of sinks a node can make, by name. Immutable; the same on all nodes. */
public final class SinkTypes {
  /** Writes a line for each event to the log {@code dev.lockstep.outbox.events}. */
  public static final String LOG = "log";

  private final Map<String, Factory> factories;

  private SinkTypes(Map<String, Factory> factories) {
    this.factories = factories;
  }

  /** Makes a sink of a definition. */
  @FunctionalInterface
  public interface Factory {
    /**
     * Must not connect yet.
     *
     * @throws IllegalArgumentException if the settings make no sense
     */
    Sink create(String stream, SinkSpec spec);
  }

  /** With {@link #LOG} only. */
  public static SinkTypes standard() {
    return new SinkTypes(Map.of(LOG, (stream, spec) -> new LogSink()));
  }

  public SinkTypes with(String type, Factory factory) {
    Map<String, Factory> all = new LinkedHashMap<>(factories);
    all.put(type, factory);
    return new SinkTypes(all);
  }

  public Set<String> names() {
    return Set.copyOf(factories.keySet());
  }

  /**
   * Makes a sink of a definition.
   *
   * @throws IllegalArgumentException for an unknown type, or settings that make no sense
   */
  public Sink create(String stream, SinkSpec spec) {
    Factory factory = factories.get(spec.type());
    if (factory == null) {
      throw new IllegalArgumentException(
          "No type '%s' of sinks here; there are %s".formatted(spec.type(), factories.keySet()));
    }
    return factory.create(stream, spec);
  }
}
