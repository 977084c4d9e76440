package dev.lockstep.job;

import java.util.HashMap;
import java.util.Map;

/** Which handler runs which kind of job. Immutable. */
public final class Handlers {
  private final Map<String, Typed<?>> byKind;

  private record Typed<T>(JobHandler.Reader<T> reader, JobHandler<T> handler) {
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

  /** With a handler for one more kind, whose payload it wants read. */
  public <T> Handlers on(String kind, JobHandler.Reader<T> reader, JobHandler<T> handler) {
    Names.require("A kind", kind);
    Map<String, Typed<?>> all = new HashMap<>(byKind);
    if (all.put(kind, new Typed<>(reader, handler)) != null) {
      throw new IllegalArgumentException("There is a handler for this kind already: " + kind);
    }
    return new Handlers(all);
  }

  /** With a handler for one more kind, that takes the JSON as it is. */
  public Handlers on(String kind, JobHandler<String> handler) {
    return on(kind, json -> json, handler);
  }

  Outcome run(JobContext job) throws Exception {
    Typed<?> typed = byKind.get(job.kind());
    // Perhaps a newer version of the application knows it.
    return typed == null ? new Outcome.Retry("No handler for this kind here") : typed.run(job);
  }
}
