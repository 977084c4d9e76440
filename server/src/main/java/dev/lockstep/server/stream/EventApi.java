package dev.lockstep.server.stream;

import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.once.Once;
import dev.lockstep.outbox.AppendedEvent;
import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Endpoint.IdempotencyKey;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.StoredAnswer;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.job.CompletionEvents;
import dev.lockstep.sql.StorableText;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Events over HTTP: appended, all or none, and listed. Thread-safe. */
final class EventApi implements CompletionEvents {
  /** Per request. */
  static final int MAX_EVENTS = 1_000;

  private static final long MAX_SEQ = 999_999_999_999_999_999L;

  /** The scope of events' idempotency keys; campaigns use their ids. */
  private static final long ONCE_SCOPE = -2;

  private final Transactor transactor;
  private final Outbox outbox;
  private final Once once;
  private final Workers workers;
  private final Set<String> reserved;

  /**
   * @param reserved streams that only the server appends to
   */
  EventApi(Transactor transactor, Outbox outbox, Once once, Workers workers, Set<String> reserved) {
    this.transactor = transactor;
    this.outbox = outbox;
    this.once = once;
    this.workers = workers;
    this.reserved = reserved;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(
                POST,
                "/v1/streams/{stream}/events",
                "Appends an event, or up to " + MAX_EVENTS + " of them, all or nothing.")
            .by(Role.OPERATOR, Role.SERVICE)
            .withIdempotencyKey(IdempotencyKey.OPTIONAL)
            .withLargeBody()
            .takingOneOrMany(StreamJson.NEW_EVENT, MAX_EVENTS)
            .answering(201, StreamJson.PLACES)
            .handledBy(this::append),
        Endpoint.of(GET, "/v1/streams/{stream}/events", "Lists the kept events of a key.")
            .by(Role.OPERATOR, Role.SERVICE)
            .withQuery("key", "The key; required.")
            .withQuery("afterSeq", "Only events after this sequence; default 0.")
            .paged(StreamJson.EVENT)
            .handledBy(this::list));
  }

  private Future<Answer> append(Request request) {
    String stream = SinkKinds.streamName(request.path("stream"));
    requireOpen(stream);
    List<NewEvent> events = events(stream, request);
    return workers.run(
        () -> {
          if (outbox.stream(stream).isEmpty()) {
            throw unknown().asException();
          }
          return StoredAnswer.call(transactor, once, ONCE_SCOPE, request, c -> appended(c, events));
        });
  }

  private void requireOpen(String stream) {
    if (reserved.contains(stream)) {
      throw Problem.of(
              "stream-reserved",
              409,
              "Stream reserved",
              "Only the server appends to '" + stream + "'; use another stream.")
          .asException();
    }
  }

  @Override
  public NewEvent read(String at, JsonObject event) {
    String stream = SinkKinds.streamName(event.getString("stream"));
    requireOpen(stream);
    return event(stream, at, event);
  }

  @Override
  public void requireStreams(List<NewEvent> events) {
    events.stream()
        .map(NewEvent::stream)
        .distinct()
        .forEach(
            stream -> {
              if (outbox.stream(stream).isEmpty()) {
                throw unknown().with("stream", stream).asException();
              }
            });
  }

  @Override
  public JsonArray append(Connection connection, List<NewEvent> events) {
    JsonArray places = new JsonArray();
    for (AppendedEvent place : outbox.appendAll(connection, events)) {
      places.add(
          new JsonObject()
              .put("stream", place.stream())
              .put("key", place.key())
              .put("seq", place.seq()));
    }
    return places;
  }

  private Answer appended(Connection connection, List<NewEvent> events) {
    JsonArray places = new JsonArray();
    for (AppendedEvent place : outbox.appendAll(connection, events)) {
      places.add(new JsonObject().put("key", place.key()).put("seq", place.seq()));
    }
    return Answer.of(201, new JsonObject().put("events", places));
  }

  private List<NewEvent> events(String stream, Request request) {
    List<JsonObject> bodies = request.bodies();
    List<NewEvent> events = new ArrayList<>();
    for (int i = 0; i < bodies.size(); i++) {
      String at = bodies.size() == 1 ? "" : "[" + i + "].";
      events.add(traced(event(stream, at, bodies.get(i)), request));
    }
    return events;
  }

  private NewEvent event(String stream, String at, JsonObject body) {
    Content content = Content.json(Json.encode(body.getValue("data")));
    int most = outbox.config().maxContentBytes();
    if (content.size() > most) {
      throw Problem.of(
              "event-too-large",
              413,
              "Event too large",
              "An event's data may have at most %d bytes; %sdata has %d."
                  .formatted(most, at, content.size()))
          .with("field", at + "data")
          .asException();
    }
    return NewEvent.of(
        stream,
        line(at + "key", body.getString("key")),
        line(at + "type", body.getString("type")),
        content);
  }

  /** Text that may end up in a path or a header. */
  static String line(String field, String text) {
    if (text.chars().anyMatch(Character::isISOControl) || !StorableText.is(text)) {
      throw Problem.invalid(field, "must not have control characters or unpaired surrogates")
          .asException();
    }
    return text;
  }

  /** Adds the request's trace, if it names one correctly. */
  private static NewEvent traced(NewEvent event, Request request) {
    Optional<String> parent = request.header(NewEvent.TRACE_PARENT);
    if (parent.isEmpty()) {
      return event;
    }
    try {
      NewEvent traced = event.withTraceParent(parent.get());
      Optional<String> state = request.header(NewEvent.TRACE_STATE);
      return state.isEmpty() ? traced : traced.withTraceState(state.get());
    } catch (IllegalArgumentException e) {
      // A broken trace header must not reject the events.
      return event;
    }
  }

  private Future<Answer> list(Request request) {
    String stream = SinkKinds.streamName(request.path("stream"));
    String key = request.required("key");
    Page page = request.page();
    long afterSeq = page.afterNumber(request.number("afterSeq", 0, MAX_SEQ).orElse(0L));
    return workers.read(
        request,
        () -> {
          if (outbox.stream(stream).isEmpty()) {
            throw unknown().asException();
          }
          return Answer.ok(
              page.of(
                  outbox.events(stream, key, afterSeq, page.limit() + 1, Page.MAX_BYTES),
                  StreamJson::event,
                  event -> String.valueOf(event.seq()),
                  event -> event.content().size()));
        });
  }

  static Problem unknown() {
    return Problem.notFound("such stream");
  }
}
