package dev.lockstep.server.stream;

import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.ParkedKey;
import dev.lockstep.outbox.SinkActionResult;
import dev.lockstep.outbox.SinkActionResult.Changed;
import dev.lockstep.outbox.SinkActionResult.EventsDropped;
import dev.lockstep.outbox.SinkActionResult.NotParked;
import dev.lockstep.outbox.SinkActionResult.OtherSeq;
import dev.lockstep.outbox.SinkActionResult.UnknownKey;
import dev.lockstep.outbox.SinkActionResult.UnknownSink;
import dev.lockstep.outbox.StreamView;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Parked and waiting keys of a sink, and what operators can do about them. Each action is recorded
 * with its actor and reason. Thread-safe.
 */
final class KeyApi {
  /** Longer keys are refused when an event is appended. */
  private static final int MAX_KEY_LENGTH = 400;

  private static final String SINK = "/v1/streams/{stream}/sinks/{sink}";
  private static final Shape SEQ = Shape.integer(1, Long.MAX_VALUE);
  private static final Shape SKIP =
      Shape.object().required("seq", SEQ).required("reason", Shape.text(1, 500));
  private static final Shape REASON = Shape.nullable(Shape.text(1, 500));
  private static final Shape RETRY = Shape.object().optional("reason", REASON);
  private static final Shape SKIP_KEY =
      Shape.object()
          .required("key", StreamJson.KEY)
          .required("seq", SEQ)
          .required("reason", Shape.text(1, 500));
  private static final Shape RETRY_KEY =
      Shape.object().required("key", StreamJson.KEY).optional("reason", REASON);
  private static final Shape REPLAY =
      Shape.object()
          .required("fromSeq", SEQ)
          .optional("key", Shape.nullable(StreamJson.KEY))
          .optional("reason", REASON);
  private static final Cases<SinkActionResult, Problem> PROBLEMS =
      Cases.<SinkActionResult, Problem>over(SinkActionResult.class)
          .when(UnknownSink.class, unknown -> unknownSink())
          .when(UnknownKey.class, unknown -> Problem.notFound("event of this key from there on"))
          .when(NotParked.class, flowing -> notParked())
          .when(OtherSeq.class, KeyApi::otherSeq)
          .when(EventsDropped.class, KeyApi::eventsDropped)
          .never(Changed.class)
          .complete();

  private static final Shape DONE =
      Shape.object()
          .required("stream", Shape.text(1, 200))
          .required("sink", Shape.text(1, 200))
          .required("key", Shape.nullable(StreamJson.KEY))
          .required("nextSeq", Shape.nullable(SEQ));

  private final Transactor transactor;
  private final Outbox outbox;
  private final Workers workers;
  private final Runnable wake;

  /**
   * @param wake makes this node's relay look at once
   */
  KeyApi(Transactor transactor, Outbox outbox, Workers workers, Runnable wake) {
    this.transactor = transactor;
    this.outbox = outbox;
    this.workers = workers;
    this.wake = wake;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(GET, SINK + "/keys", "Lists a sink's parked and waiting keys, by key.")
            .by(Role.OPERATOR)
            .paged(StreamJson.PARKED)
            .handledBy(this::parked),
        Endpoint.of(POST, SINK + "/keys/{key}/retry", "Retries a parked key now.")
            .by(Role.OPERATOR)
            .perhapsTaking(RETRY)
            .answering(200, DONE)
            .handledBy(request -> retry(request, request.path("key"))),
        Endpoint.of(
                POST,
                SINK + "/keys/{key}/skip",
                "Skips the event that a key is parked at, permanently; the next ones follow.")
            .by(Role.OPERATOR)
            .taking(SKIP)
            .answering(200, DONE)
            .handledBy(request -> skip(request, request.path("key"))),
        Endpoint.of(POST, SINK + "/retry", "Retries a parked key now; the body names it.")
            .by(Role.OPERATOR)
            .taking(RETRY_KEY)
            .answering(200, DONE)
            .handledBy(request -> retry(request, request.body().getString("key"))),
        Endpoint.of(
                POST,
                SINK + "/skip",
                "Skips the event that a key is parked at, permanently; the body names the key.")
            .by(Role.OPERATOR)
            .taking(SKIP_KEY)
            .answering(200, DONE)
            .handledBy(request -> skip(request, request.body().getString("key"))),
        Endpoint.of(
                POST,
                SINK + "/replay",
                "Sends kept events again from a sequence on, of one key or of all.")
            .by(Role.OPERATOR)
            .taking(REPLAY)
            .answering(200, DONE)
            .handledBy(this::replay),
        Endpoint.of(
                GET,
                "/v1/streams/{stream}/actions",
                "Lists actions on a stream's sinks, newest first.")
            .by(Role.OPERATOR)
            .paged(StreamJson.ACTION)
            .handledBy(this::actions));
  }

  /** What an order concerns. */
  private record KeyAddress(String stream, String sink, Optional<String> key) {
    static KeyAddress of(Request request) {
      return new KeyAddress(request.path("stream"), request.path("sink"), Optional.empty());
    }

    KeyAddress with(String one) {
      return new KeyAddress(stream, sink, Optional.of(EventApi.line("key", one)));
    }

    Answer done(Optional<Long> nextSeq) {
      return Answer.ok(
          new JsonObject()
              .put("stream", stream)
              .put("sink", sink)
              .put("key", key.orElse(null))
              .put("nextSeq", nextSeq.orElse(null)));
    }
  }

  private interface Order {
    SinkActionResult on(Connection connection);
  }

  private Future<Answer> parked(Request request) {
    KeyAddress address = KeyAddress.of(request);
    Page page = request.page();
    Optional<String> after = page.after(text -> Streams.name(text, MAX_KEY_LENGTH));
    return workers.read(
        request,
        () -> {
          Optional<StreamView> stream = outbox.stream(address.stream());
          if (stream.stream()
              .flatMap(one -> one.sinks().stream())
              .noneMatch(sink -> sink.name().equals(address.sink()))) {
            throw unknownSink().asException();
          }
          return Answer.ok(
              page.of(
                  outbox.parked(address.stream(), address.sink(), after, page.limit() + 1),
                  StreamJson::parked,
                  ParkedKey::key));
        });
  }

  /**
   * @param key from the path, or from the body: no path can name a key such as {@code ..}
   */
  private Future<Answer> retry(Request request, String key) {
    KeyAddress address = KeyAddress.of(request).with(key);
    String actor = request.principal().name();
    String reason = reason(request, "retried");
    return order(
        address,
        Optional.empty(),
        c ->
            outbox.retry(
                c, address.stream(), address.sink(), address.key().orElseThrow(), actor, reason));
  }

  private Future<Answer> skip(Request request, String key) {
    KeyAddress address = KeyAddress.of(request).with(key);
    long seq = request.body().getLong("seq");
    String reason = request.body().getString("reason");
    String actor = request.principal().name();
    return order(
        address,
        Optional.of(seq + 1),
        c ->
            outbox.skip(
                c,
                address.stream(),
                address.sink(),
                address.key().orElseThrow(),
                seq,
                actor,
                reason));
  }

  private Future<Answer> replay(Request request) {
    long from = request.body().getLong("fromSeq");
    String actor = request.principal().name();
    String reason = reason(request, "replayed");
    String key = request.body().getString("key");
    KeyAddress address = key == null ? KeyAddress.of(request) : KeyAddress.of(request).with(key);
    return order(
        address,
        Optional.of(from),
        c ->
            key == null
                ? outbox.replayAll(c, address.stream(), address.sink(), from, actor, reason)
                : outbox.replay(c, address.stream(), address.sink(), key, from, actor, reason));
  }

  /** Optional for programs; the console asks for it. */
  private static String reason(Request request, String unlessTold) {
    String told = request.body().getString("reason");
    return told == null ? unlessTold : told;
  }

  private Future<Answer> order(KeyAddress address, Optional<Long> nextSeq, Order order) {
    return workers.run(
        () -> {
          SinkActionResult result = transactor.call(order::on);
          if (result instanceof Changed) {
            wake.run();
            return address.done(nextSeq);
          }
          throw PROBLEMS.of(result).asException();
        });
  }

  private static Problem otherSeq(OtherSeq other) {
    return Problem.of(
            "other-seq",
            409,
            "Another event is next",
            "The key is stopped at event " + other.seq() + "; nothing was skipped.")
        .with("seq", other.seq());
  }

  private static Problem eventsDropped(EventsDropped dropped) {
    return Problem.of(
            "not-kept",
            409,
            "No longer kept",
            "The oldest kept event of the key is " + dropped.oldestSeq() + ".")
        .with("oldestSeq", dropped.oldestSeq());
  }

  private static Problem notParked() {
    return Problem.of(
        "key-not-parked", 409, "Key not parked", "The key is not parked; there is nothing to do.");
  }

  private static Problem unknownSink() {
    return Problem.notFound("such stream or sink");
  }

  private Future<Answer> actions(Request request) {
    String stream = request.path("stream");
    Page page = request.page();
    OptionalLong before =
        page.after().isEmpty() ? OptionalLong.empty() : OptionalLong.of(page.afterNumber(0));
    return workers.read(
        request,
        () -> {
          if (outbox.stream(stream).isEmpty()) {
            throw EventApi.unknown().asException();
          }
          return Answer.ok(
              page.of(
                  outbox.audit(stream, before, page.limit() + 1),
                  StreamJson::action,
                  entry -> String.valueOf(entry.id())));
        });
  }
}
