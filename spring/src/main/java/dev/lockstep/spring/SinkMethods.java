package dev.lockstep.spring;

import dev.lockstep.outbox.Event;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.Session;
import dev.lockstep.outbox.SessionLease;
import dev.lockstep.outbox.Sink;
import dev.lockstep.outbox.SinkResult;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.outbox.StreamView;
import dev.lockstep.tx.AdvisoryLocks;
import dev.lockstep.tx.Transactor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** The methods that receive events. Each is a sink of its stream. Thread-safe. */
public final class SinkMethods {
  private static final Logger log = LoggerFactory.getLogger(SinkMethods.class);
  private static final String TYPE = "spring-bean";
  private static final String LOCK = "lockstep sink methods";
  private static final String ACTOR = "spring";

  private final ConfigurableListableBeanFactory beans;

  public SinkMethods(ConfigurableListableBeanFactory beans) {
    this.beans = beans;
  }

  private List<BeanMethod<OutboxSink>> methods() {
    return BeanMethod.annotated(beans, OutboxSink.class);
  }

  /** Adds the type of sink that calls the methods. */
  SinkTypes types(SinkTypes types) {
    Map<List<String>, BeanMethod<OutboxSink>> byName = new LinkedHashMap<>();
    for (BeanMethod<OutboxSink> method : methods()) {
      Class<?>[] parameters = method.declared().getParameterTypes();
      if (parameters.length != 1 || parameters[0] != Event.class) {
        throw new IllegalStateException(method + " receives events, so it must take one Event");
      }
      List<String> name = List.of(method.annotation().stream(), method.annotation().name());
      if (byName.put(name, method) != null) {
        throw new IllegalStateException("Two methods are the sink " + name);
      }
    }
    return types.with(
        TYPE,
        (stream, spec) -> {
          BeanMethod<OutboxSink> method = byName.get(List.of(stream, spec.name()));
          if (method == null) {
            throw new IllegalArgumentException(
                "This node has no method with @OutboxSink for %s of %s"
                    .formatted(spec.name(), stream));
          }
          return new MethodSink(method);
        });
  }

  /** Makes streams and sinks that are missing, one node at a time. Removes nothing. */
  void ensure(Transactor transactor, Outbox outbox, List<String> streams) {
    Map<String, List<String>> wanted = new LinkedHashMap<>();
    streams.forEach(stream -> wanted.put(stream, new ArrayList<>()));
    for (BeanMethod<OutboxSink> method : methods()) {
      wanted
          .computeIfAbsent(method.annotation().stream(), stream -> new ArrayList<>())
          .add(method.annotation().name());
    }
    if (wanted.isEmpty()) {
      return;
    }
    transactor.run(
        connection -> {
          AdvisoryLocks.lock(connection, LOCK);
          wanted.forEach((stream, sinks) -> ensure(outbox, stream, sinks));
        });
  }

  private static void ensure(Outbox outbox, String stream, List<String> names) {
    List<SinkSpec> all =
        new ArrayList<>(outbox.stream(stream).map(StreamView::sinks).orElse(List.of()));
    int before = all.size();
    for (String name : names) {
      Optional<SinkSpec> known = all.stream().filter(one -> one.name().equals(name)).findFirst();
      if (known.isEmpty()) {
        all.add(SinkSpec.of(name, TYPE, ""));
      } else if (!known.get().type().equals(TYPE)) {
        throw new IllegalStateException(
            "Sink %s of stream %s exists with type %s; give the method's sink another name, or remove that one with Outbox.define"
                .formatted(name, stream, known.get().type()));
      }
    }
    outbox.create(stream);
    if (all.size() > before) {
      outbox.define(stream, all, ACTOR);
    }
  }

  /**
   * Delivers one event at a time per partition. A failing event blocks only its key; a slow method
   * delays its partition.
   */
  private record MethodSink(BeanMethod<OutboxSink> method) implements Sink, Session {
    @Override
    public int maxInFlight() {
      return 1;
    }

    @Override
    public Session open(SessionLease lease) {
      return this;
    }

    @Override
    public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
      List<SinkResult> results = new ArrayList<>();
      for (Event event : events) {
        results.add(deliver(event));
      }
      return CompletableFuture.completedStage(results);
    }

    private SinkResult deliver(Event event) {
      try {
        Object unused = method.invoke(event);
        return SinkResult.DELIVERED;
      } catch (Exception e) {
        log.warn(
            "{} failed for event {} of key {}; it is tried again",
            method,
            event.seq(),
            event.key(),
            e);
        return new SinkResult.RetryLater(e.toString());
      }
    }

    @Override
    public void close() {}
  }
}
