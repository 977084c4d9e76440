package dev.lockstep.outbox;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** The types of sinks a node can create, by name. Immutable; must be the same on all nodes. */
public final class SinkTypes {
  /** Writes one line per event to the log {@code dev.lockstep.outbox.events}. */
  public static final String LOG = "log";

  private final Map<String, Factory> factories;

  private SinkTypes(Map<String, Factory> factories) {
    this.factories = factories;
  }

  /** Creates a sink from its definition. */
  @FunctionalInterface
  public interface Factory {
    /**
     * Creates a sink, without connecting yet.
     *
     * @throws IllegalArgumentException if the settings are invalid
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
   * Creates a sink from its definition.
   *
   * @throws IllegalArgumentException for an unknown type, or invalid settings
   */
  public Sink create(String stream, SinkSpec spec) {
    Factory factory = factories.get(spec.type());
    if (factory == null) {
      throw new IllegalArgumentException(
          "Unknown sink type '%s'; this node has %s".formatted(spec.type(), factories.keySet()));
    }
    return factory.create(stream, spec);
  }
}
