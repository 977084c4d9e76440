package dev.lockstep.server.stream;

import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.PUT;

import dev.lockstep.once.Once;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.ParkedKey;
import dev.lockstep.outbox.Relay;
import dev.lockstep.outbox.RelayConfig;
import dev.lockstep.outbox.RelayHealth;
import dev.lockstep.outbox.SinkHealth;
import dev.lockstep.outbox.SinkLag;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.StreamView;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.duty.DutyTimer;
import dev.lockstep.server.job.CompletionEvents;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Streams over HTTP, and this node's relay, which delivers after {@link #start}. {@link #close}
 * starts nothing more, waits a bounded time for deliveries in flight and hands over this node's
 * partitions. Thread-safe, except for start and close.
 */
public final class Streams implements AutoCloseable {

  /** How soon this node learns of definitions made elsewhere. */
  private static final Duration LOOK_INTERVAL = Duration.ofSeconds(1);

  /** Lags are counted once per this many looks. */
  private static final int LOOKS_A_COUNT = 5;

  /** Longer names are refused when an event is appended. */
  private static final int MAX_NAME_LENGTH = 200;

  private final Outbox outbox;
  private final Workers workers;
  private final SinkKinds kinds;
  private final RelayConfig relayConfig;
  private final StreamListener listener;
  private final EventApi events;
  private final KeyApi keys;
  private final DutyTimer timer = new DutyTimer("streams");
  private volatile @Nullable Relay relay;
  private int looks;

  /**
   * @param reserved streams that only the server appends to; created at the start
   */
  public Streams(
      Transactor transactor,
      Outbox outbox,
      Once once,
      Workers workers,
      SinkKinds kinds,
      RelayConfig relayConfig,
      Set<String> reserved,
      StreamListener listener) {
    this.outbox = outbox;
    this.workers = workers;
    this.kinds = kinds;
    this.relayConfig = relayConfig;
    this.listener = listener;
    this.events = new EventApi(transactor, outbox, once, workers, reserved);
    this.keys = new KeyApi(transactor, outbox, workers, this::wake);
    reserved.forEach(outbox::create);
    look();
  }

  /** Starts to relay. Call it once. */
  public void start() {
    if (relay != null) {
      throw new IllegalStateException("the relay has already been started");
    }
    relay = outbox.relay(relayConfig, kinds.types());
    timer.repeat(LOOK_INTERVAL, LOOK_INTERVAL, "Reading streams failed", this::lookAgain);
  }

  @Override
  public void close() {
    timer.close();
    Relay running = relay;
    relay = null;
    if (running != null) {
      running.close();
    }
  }

  public List<Endpoint> endpoints() {
    List<Endpoint> all =
        new ArrayList<>(
            List.of(
                Endpoint.of(
                        PUT,
                        "/v1/streams/{stream}",
                        "Creates or changes a stream and its sinks; sinks that stay keep their progress.")
                    .by(Role.OPERATOR)
                    .taking(StreamJson.DEFINITION)
                    .answering(200, StreamJson.FULL_STREAM)
                    .handledBy(this::define),
                Endpoint.of(GET, "/v1/streams", "Lists streams by name, with each sink's lag.")
                    .by(Role.OPERATOR, Role.SERVICE)
                    .asReport()
                    .paged(StreamJson.STREAM)
                    .handledBy(this::list),
                Endpoint.of(
                        GET,
                        "/v1/streams/{stream}",
                        "Shows a stream: each sink's lag and stopped keys.")
                    .by(Role.OPERATOR, Role.SERVICE)
                    .asReport()
                    .answering(200, StreamJson.FULL_STREAM)
                    .handledBy(this::show),
                Endpoint.of(GET, "/v1/relays", "Shows which node relays which partition.")
                    .by(Role.OPERATOR)
                    .answering(200, StreamJson.RELAYS)
                    .handledBy(this::relays)));
    all.addAll(events.endpoints());
    all.addAll(keys.endpoints());
    return all;
  }

  /** Appends the events of a job's completion. */
  public CompletionEvents forJobs() {
    return events;
  }

  private Future<Answer> define(Request request) {
    String stream = SinkKinds.streamName(request.path("stream"));
    JsonArray definitions = request.body().getJsonArray("sinks");
    String actor = request.principal().name();
    return workers.run(
        () -> {
          List<SinkSpec> before = outbox.stream(stream).map(StreamView::sinks).orElse(List.of());
          outbox.define(stream, sinks(definitions, before), actor);
          look();
          wake();
          return Answer.ok(full(stream));
        });
  }

  private List<SinkSpec> sinks(JsonArray definitions, List<SinkSpec> before) {
    List<SinkSpec> sinks = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (int i = 0; i < definitions.size(); i++) {
      String at = "sinks[" + i + "]";
      JsonObject definition = definitions.getJsonObject(i);
      String name = definition.getString("name");
      SinkSpec spec =
          kinds.read(
              at, definition, before.stream().filter(one -> one.name().equals(name)).findFirst());
      if (!names.add(spec.name())) {
        throw Problem.invalid(at + ".name", "is the name of another sink").asException();
      }
      sinks.add(spec);
    }
    return sinks;
  }

  private Future<Answer> list(Request request) {
    Page page = request.page();
    Optional<String> after = page.after(text -> name(text, MAX_NAME_LENGTH));
    return workers.read(
        request,
        () -> {
          List<SinkLag> lags = outbox.lags();
          List<StreamView> found =
              outbox.streams().stream()
                  .filter(one -> after.filter(a -> one.name().compareTo(a) <= 0).isEmpty())
                  .sorted((a, b) -> a.name().compareTo(b.name()))
                  .limit(page.limit() + 1L)
                  .toList();
          return Answer.ok(page.of(found, one -> view(one, lags, false), StreamView::name));
        });
  }

  /** Accepts any name of this length, known or not: it may have been removed. */
  static String name(String text, int maxLength) {
    if (text.isBlank()
        || text.length() > maxLength
        || text.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException("no name");
    }
    return text;
  }

  private Future<Answer> show(Request request) {
    String stream = request.path("stream");
    return workers.read(request, () -> Answer.ok(full(stream)));
  }

  private JsonObject full(String name) {
    StreamView stream = outbox.stream(name).orElseThrow(() -> EventApi.unknown().asException());
    return view(stream, outbox.lags(name), true);
  }

  private JsonObject view(StreamView stream, List<SinkLag> lags, boolean withKeys) {
    JsonArray sinks = new JsonArray();
    List<SinkHealth> health = health();
    for (SinkSpec spec : stream.sinks()) {
      Optional<SinkLag> lag =
          lags.stream()
              .filter(one -> one.stream().equals(stream.name()) && one.sink().equals(spec.name()))
              .findFirst();
      Optional<SinkHealth> found =
          health.stream()
              .filter(one -> one.stream().equals(stream.name()) && one.sink().equals(spec.name()))
              .findFirst();
      JsonObject sink = StreamJson.sink(spec, lag, found);
      if (withKeys) {
        sink.put("parkedKeys", parkedKeys(stream.name(), spec.name()));
      }
      sinks.add(sink);
    }
    return StreamJson.stream(stream, sinks);
  }

  private JsonArray parkedKeys(String stream, String sink) {
    JsonArray found = new JsonArray();
    for (ParkedKey key : outbox.parked(stream, sink, Optional.empty(), StreamJson.SHOWN_KEYS)) {
      found.add(StreamJson.parked(key));
    }
    return found;
  }

  private Future<Answer> relays(Request request) {
    return workers.read(
        request,
        () -> {
          Relay running = relay;
          return Answer.ok(StreamJson.relays(running == null ? List.of() : running.owners()));
        });
  }

  private List<SinkHealth> health() {
    Relay running = relay;
    return running == null ? List.of() : running.sinks();
  }

  /** The problems of this node's relay; empty if there are none. From memory. */
  public List<String> problems() {
    Relay running = relay;
    if (running == null || running.health().isHealthy()) {
      return List.of();
    }
    RelayHealth health = running.health();
    String what =
        health.state() == RelayHealth.State.ENDED
            ? "the relay has ended and handed over its partitions"
            : "the relay fails and keeps retrying";
    return List.of(what + health.failure().map(why -> ": " + why).orElse(""));
  }

  private void wake() {
    Relay running = relay;
    if (running != null) {
      running.wake();
    }
  }

  private synchronized void lookAgain() {
    listener.onStreams(outbox.streams());
    if (looks++ % LOOKS_A_COUNT == 0) {
      count();
    }
  }

  private synchronized void look() {
    listener.onStreams(outbox.streams());
    count();
  }

  private void count() {
    Relay running = relay;
    listener.onLags(outbox.lags(), health(), running == null ? 0 : running.ownedPartitions());
  }
}
