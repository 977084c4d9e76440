package dev.lockstep.job;

import java.util.HashMap;
import java.util.Map;

/** Maps job kinds to handlers. Immutable. */
public final class Handlers {
  private final Map<String, Typed<?>> byKind;

  private record Typed<T>(JobHandler.PayloadReader<T> reader, JobHandler<T> handler) {
    Outcome run(JobContext job) throws Exception {
      return handler.run(reader.read(job.payload()), job);
    }
  }

  private Handlers(Map<String, Typed<?>> byKind) {
    this.byKind = Map.copyOf(byKind);
  }

  public static Handlers none() {
    return new Handlers(Map.of());
  }

  /**
   * Adds a handler for a kind; the reader parses its payload.
   *
   * @throws IllegalArgumentException if the kind already has a handler
   */
  public <T> Handlers on(String kind, JobHandler.PayloadReader<T> reader, JobHandler<T> handler) {
    NameRule.require("A kind", kind);
    Map<String, Typed<?>> all = new HashMap<>(byKind);
    if (all.put(kind, new Typed<>(reader, handler)) != null) {
      throw new IllegalArgumentException("This kind already has a handler: " + kind);
    }
    return new Handlers(all);
  }

  /** Adds a handler that takes the JSON unparsed. */
  public Handlers on(String kind, JobHandler<String> handler) {
    return on(kind, json -> json, handler);
  }

  Outcome run(JobContext job) throws Exception {
    Typed<?> typed = byKind.get(job.kind());
    // Another node may run a newer version of the application that knows this kind.
    return typed == null
        ? new Outcome.Retry("This node has no handler for the job's kind")
        : typed.run(job);
  }
}
