package dev.lockstep.server.stream;

import dev.lockstep.outbox.AuditEntry;
import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.Event;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.ParkedKey;
import dev.lockstep.outbox.SinkHealth;
import dev.lockstep.outbox.SinkLag;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.StreamView;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Shape;
import dev.lockstep.shard.ShardOwner;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Streams and their parts as JSON. */
final class StreamJson {
  static final int MAX_KEY_LENGTH = 400;
  static final int MAX_TYPE_LENGTH = 200;

  /** How many parked and waiting keys a sink shows; a separate list has all. */
  static final int SHOWN_KEYS = 20;

  private static final long ANY = Long.MAX_VALUE;
  private static final Shape COUNT = Shape.integer(0, ANY);
  private static final Shape NAME = Shape.text(1, 200);
  static final Shape KEY = Shape.text(1, MAX_KEY_LENGTH);

  static final Shape DEFINITION =
      Shape.object().required("sinks", Shape.list(SinkKinds.SHAPE, 0, Outbox.MAX_SINKS));

  static final Shape NEW_EVENT =
      Shape.object()
          .required("key", KEY)
          .required("type", Shape.text(1, MAX_TYPE_LENGTH))
          .required("data", Shape.any());

  static final Shape PLACES =
      Shape.object()
          .required(
              "events",
              Shape.list(
                  Shape.object().required("key", KEY).required("seq", COUNT),
                  1,
                  EventApi.MAX_EVENTS));

  static final Shape EVENT =
      Shape.object()
          .required("id", Shape.text(1, 20))
          .required("key", KEY)
          .required("seq", COUNT)
          .required("type", NAME)
          .required("contentType", NAME)
          .required("data", Shape.any())
          .required("appendedAt", Shape.time());

  static final Shape PARKED =
      Shape.object()
          .required("key", KEY)
          .required("state", Shape.choice("parked", "waiting"))
          .required("seq", COUNT)
          .required("attempts", COUNT)
          .required("error", Shape.text(0, 4_000))
          .required("parkedAt", Shape.time())
          .required("retryAt", Shape.nullable(Shape.time()));

  private static final ObjectShape SINK =
      Shape.object()
          .required("name", NAME)
          .required("type", NAME)
          .optional("topic", NAME)
          .optional("url", Shape.text(1, 2_100))
          .optional("format", NAME)
          .optional("signature", NAME)
          .required("giveUpAfterSeconds", Shape.nullable(COUNT))
          .required(
              "lag",
              Shape.object()
                  .required("events", COUNT)
                  .required("atLeast", Shape.bool())
                  .required("seconds", COUNT)
                  .required("oldestUnsentAt", Shape.nullable(Shape.time())))
          .required("parked", COUNT)
          .required("waiting", COUNT)
          .required("heldBack", COUNT)
          .required("delivered", COUNT)
          .required("down", Shape.nullable(Shape.text(0, 4_000)));

  static final Shape STREAM = stream(SINK);
  static final Shape FULL_STREAM =
      stream(SINK.required("parkedKeys", Shape.list(PARKED, 0, SHOWN_KEYS)));

  static final Shape ACTION =
      Shape.object()
          .required("id", Shape.text(1, 20))
          .required("at", Shape.time())
          .required("actor", NAME)
          .required("action", NAME)
          .required("sink", Shape.nullable(NAME))
          .required("key", Shape.nullable(KEY))
          .required("seq", Shape.nullable(COUNT))
          .required("reason", Shape.text(1, 1_000));

  static final Shape RELAYS =
      Shape.object()
          .required(
              "partitions",
              Shape.list(
                  Shape.object()
                      .required("partition", COUNT)
                      .required("node", Shape.nullable(NAME))
                      .required("epoch", COUNT),
                  1,
                  1_024));

  private StreamJson() {}

  private static Shape stream(Shape sink) {
    return Shape.object()
        .required("name", NAME)
        .required("sinks", Shape.list(sink, 0, Outbox.MAX_SINKS));
  }

  /** A stream without its sinks. */
  static JsonObject stream(StreamView stream, JsonArray sinks) {
    return new JsonObject().put("name", stream.name()).put("sinks", sinks);
  }

  /**
   * @param health as this node finds it; empty if it does not know the sink
   */
  static JsonObject sink(SinkSpec spec, Optional<SinkLag> lag, Optional<SinkHealth> health) {
    long events = lag.map(SinkLag::events).orElse(0L);
    JsonObject behind =
        new JsonObject()
            .put("events", events)
            // Each partition is counted up to a limit; the sum is exact if none reaches it.
            .put("atLeast", events >= Outbox.MAX_LAG)
            .put("seconds", lag.map(one -> one.age().toSeconds()).orElse(0L))
            .put("oldestUnsentAt", text(lag.flatMap(SinkLag::oldestUnsentAt)));
    return SinkKinds.define(new JsonObject(), spec)
        .put("lag", behind)
        .put("parked", lag.map(SinkLag::parkedKeys).orElse(0))
        .put("waiting", lag.map(SinkLag::waitingKeys).orElse(0))
        .put("heldBack", lag.map(SinkLag::heldBack).orElse(0L))
        .put("delivered", lag.map(SinkLag::delivered).orElse(0L))
        .put("down", health.flatMap(SinkHealth::down).orElse(null));
  }

  static JsonObject parked(ParkedKey key) {
    return new JsonObject()
        .put("key", key.key())
        .put("state", key.retryAt().isPresent() ? "waiting" : "parked")
        .put("seq", key.seq())
        .put("attempts", key.attempts())
        .put("error", key.error())
        .put("parkedAt", key.parkedAt().toString())
        .put("retryAt", text(key.retryAt()));
  }

  static JsonObject event(Event event) {
    return new JsonObject()
        .put("id", String.valueOf(event.id()))
        .put("key", event.key())
        .put("seq", event.seq())
        .put("type", event.type())
        .put("contentType", event.content().type())
        .put("data", data(event.content()))
        .put("appendedAt", event.appendedAt().toString());
  }

  /** JSON as it is; other content, appended by library users, in Base64. */
  private static @Nullable Object data(Content content) {
    if (content.type().equals(Content.JSON)) {
      try {
        return Json.decodeValue(content.text());
      } catch (DecodeException e) {
        // Declared as JSON but invalid; shown like other content.
      }
    }
    return Base64.getEncoder().encodeToString(content.bytes());
  }

  static JsonObject action(AuditEntry entry) {
    return new JsonObject()
        .put("id", String.valueOf(entry.id()))
        .put("at", entry.at().toString())
        .put("actor", entry.actor())
        .put("action", entry.action())
        .put("sink", entry.sink().orElse(null))
        .put("key", entry.key().orElse(null))
        .put("seq", entry.seq().isPresent() ? entry.seq().getAsLong() : null)
        .put("reason", entry.reason());
  }

  static JsonObject relays(List<ShardOwner> owners) {
    JsonArray partitions = new JsonArray();
    owners.forEach(
        owner ->
            partitions.add(
                new JsonObject()
                    .put("partition", owner.shard())
                    .put("node", owner.node().orElse(null))
                    .put("epoch", owner.epoch())));
    return new JsonObject().put("partitions", partitions);
  }

  private static @Nullable String text(Optional<Instant> time) {
    return time.map(Instant::toString).orElse(null);
  }
}
