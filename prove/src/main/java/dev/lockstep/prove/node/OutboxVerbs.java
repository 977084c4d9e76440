package dev.lockstep.prove.node;

import dev.lockstep.outbox.AppendedEvent;
import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.Event;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.ParkedKey;
import dev.lockstep.outbox.Relay;
import dev.lockstep.outbox.RelayConfig;
import dev.lockstep.outbox.Session;
import dev.lockstep.outbox.SessionLease;
import dev.lockstep.outbox.Sink;
import dev.lockstep.outbox.SinkActionResult;
import dev.lockstep.outbox.SinkResult;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.prove.history.Fields;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The outbox. Its sinks are the driver, which sees all nodes' deliveries in one order. */
final class OutboxVerbs implements AutoCloseable {
  /** The stream of the outbox and sales workloads. */
  static final String STREAM = "prove";

  private static final String TYPE = "driver";

  private final Transactor transactor;
  private final Outbox outbox;
  private final Pipe pipe;
  private final Relay relay;

  OutboxVerbs(Transactor transactor, Outbox outbox, NodeSettings settings, Pipe pipe) {
    this.transactor = transactor;
    this.outbox = outbox;
    this.pipe = pipe;
    RelayConfig config =
        RelayConfig.named(settings.name())
            .withLease(settings.lease(), settings.lease().dividedBy(4))
            .withPollInterval(Duration.ofMillis(200))
            .withPauses(Duration.ofMillis(50), Duration.ofMillis(400))
            .withDeliverTimeout(Duration.ofSeconds(2))
            .withMaxAttempts(4)
            .withCloseTimeout(Duration.ofSeconds(2));
    this.relay = outbox.relay(config, SinkTypes.standard().with(TYPE, DriverSink::new));
  }

  Map<String, Verb> verbs() {
    Map<String, Verb> verbs = new HashMap<>();
    verbs.put("outbox.define", this::define);
    verbs.put("outbox.append", this::append);
    verbs.put("outbox.skip", this::skip);
    verbs.put("outbox.retry", this::retry);
    verbs.put("outbox.replay", this::replay);
    verbs.put("final.parked", this::parked);
    verbs.put("final.events", this::events);
    return verbs;
  }

  private Answer define(Fields f) {
    List<SinkSpec> sinks = new ArrayList<>();
    f.parts("sinks", ",").forEach(name -> sinks.add(SinkSpec.of(name, TYPE, "")));
    outbox.define(STREAM, sinks, "prove");
    return Answer.ok();
  }

  /**
   * Appends one event for each key; {@code abort} rolls back after, {@code late} appends at COMMIT.
   */
  private Answer append(Fields f) {
    List<NewEvent> events = new ArrayList<>();
    for (String key : f.parts("keys", ",")) {
      events.add(NewEvent.of(STREAM, key, "prove", Content.json('"' + f.text("body") + '"')));
    }
    try {
      List<AppendedEvent> places =
          transactor.call(
              connection -> {
                OnceVerbs.pause(f.number("before", 0));
                List<AppendedEvent> appended = List.of();
                if (f.flag("late")) {
                  events.forEach(outbox::appendAtCommit);
                } else {
                  appended = outbox.appendAll(connection, events);
                }
                OnceVerbs.pause(f.number("after", 0));
                if (f.flag("abort")) {
                  throw new Aborted();
                }
                return appended;
              });
      return Answer.ok(
          "seqs", String.join(",", places.stream().map(p -> String.valueOf(p.seq())).toList()));
    } catch (Aborted e) {
      return Answer.failed("aborted");
    }
  }

  private static final class Aborted extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private Answer skip(Fields f) {
    return changed(
        transactor.call(
            connection ->
                outbox.skip(
                    connection,
                    STREAM,
                    f.text("sink"),
                    f.text("key"),
                    f.number("seq"),
                    "prove",
                    "a test")));
  }

  private Answer retry(Fields f) {
    return changed(
        transactor.call(
            connection ->
                outbox.retry(
                    connection, STREAM, f.text("sink"), f.text("key"), "prove", "a test")));
  }

  private Answer replay(Fields f) {
    return changed(
        transactor.call(
            connection ->
                outbox.replay(
                    connection,
                    STREAM,
                    f.text("sink"),
                    f.text("key"),
                    f.number("seq"),
                    "prove",
                    "a test")));
  }

  private static Answer changed(SinkActionResult result) {
    String name = result.getClass().getSimpleName();
    return result instanceof SinkActionResult.Changed
        ? Answer.ok("result", name)
        : Answer.refused(name);
  }

  private Answer parked(Fields f) {
    List<String> all = new ArrayList<>();
    for (ParkedKey key : outbox.parked(STREAM, f.text("sink"), Optional.empty(), 1_000)) {
      if (key.key().startsWith(f.text("prefix"))) {
        all.add(key.key() + ":" + key.seq() + ":" + (key.retryAt().isPresent() ? "w" : "p"));
      }
    }
    return Answer.ok("parked", String.join(",", all));
  }

  private Answer events(Fields f) {
    List<String> all = new ArrayList<>();
    for (Event event : outbox.events(STREAM, f.text("key"), 0, 1_000)) {
      all.add(event.seq() + ":" + body(event));
    }
    return Answer.ok("events", String.join(",", all));
  }

  private static String body(Event event) {
    return event.content().text().replace("\"", "");
  }

  @Override
  public void close() {
    relay.close();
  }

  /** Hands each event to the driver and returns the result it names. */
  private final class DriverSink implements Sink {
    private final String name;

    DriverSink(String stream, SinkSpec spec) {
      this.name = spec.name();
    }

    @Override
    public int maxInFlight() {
      return 0;
    }

    @Override
    public Session open(SessionLease lease) {
      return new DriverSession(name, lease);
    }

    @Override
    public void close() {}
  }

  private final class DriverSession implements Session {
    private final String sink;
    private final SessionLease lease;

    DriverSession(String sink, SessionLease lease) {
      this.sink = sink;
      this.lease = lease;
    }

    @Override
    public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
      List<String> lines = new ArrayList<>();
      for (Event event : events) {
        lines.add(
            Fields.of(
                    "sink", sink,
                    "key", event.key(),
                    "seq", event.seq(),
                    "body", body(event),
                    "part", lease.partition(),
                    "epoch", lease.epoch())
                .line());
      }
      List<SinkResult> results = new ArrayList<>();
      try {
        Fields answer = pipe.ask("deliver", Fields.of("events", String.join(";", lines)));
        answer.parts("results", ",").forEach(word -> results.add(result(word)));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        events.forEach(event -> results.add(new SinkResult.Down("interrupted")));
      }
      return CompletableFuture.completedFuture(results);
    }

    private static SinkResult result(String word) {
      return switch (word) {
        case "retry" -> new SinkResult.RetryLater("told to fail");
        case "poison" -> new SinkResult.Poison("told to refuse");
        case "down" -> new SinkResult.Down("told to be down");
        case "unsent" -> SinkResult.UNSENT;
        default -> SinkResult.DELIVERED;
      };
    }

    @Override
    public void close() {}
  }
}
