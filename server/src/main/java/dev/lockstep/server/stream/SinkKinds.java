package dev.lockstep.server.stream;

import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.outgoing.OutgoingHttp;
import dev.lockstep.server.outgoing.Target;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * The kinds of sinks that this server knows: how each is written in JSON, and how it is made.
 * Immutable.
 */
public final class SinkKinds {
  static final String KAFKA = "kafka";
  static final String WEBHOOK = "webhook";

  private static final String NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}";
  private static final String NAME_RULE =
      "must be up to 100 letters, digits, dots, underscores and hyphens, and begin with a letter or"
          + " digit";

  private static final String TOPIC = "[A-Za-z0-9._-]{1,249}";
  private static final String NOW = "now";
  private static final String BEGINNING = "beginning";
  private static final long MAX_GIVE_UP_SECONDS = Duration.ofDays(3_650).toSeconds();

  /** A sink as it is defined. */
  static final Shape SHAPE =
      Shape.oneOf(
          "type",
          Map.of(
              KAFKA,
              definition(KAFKA).required("topic", Shape.text(1, 249)),
              WEBHOOK,
              definition(WEBHOOK).required("url", Shape.text(1, Target.MAX_LENGTH)),
              SinkTypes.LOG,
              definition(SinkTypes.LOG)));

  private final OutgoingHttp http;
  private final Signer signer;
  private final String userAgent;
  private final Optional<SinkTypes.Factory> kafka;

  /** Proves to a receiver that a request is ours. */
  @FunctionalInterface
  public interface Signer {
    /** The header's value. */
    String sign(Target receiver, byte[] body);
  }

  /**
   * @param signer proves to receivers that a request is ours
   * @param kafka makes sinks whose settings are a topic; empty: no broker is configured
   */
  public SinkKinds(
      OutgoingHttp http, Signer signer, String userAgent, Optional<SinkTypes.Factory> kafka) {
    this.http = http;
    this.signer = signer;
    this.userAgent = userAgent;
    this.kafka = kafka;
  }

  private static ObjectShape definition(String type) {
    return Shape.object()
        .required("name", Shape.text(1, 100))
        .required("type", Shape.choice(type))
        .optional("startAt", Shape.choice(BEGINNING, NOW))
        .optional("giveUpAfterSeconds", Shape.nullable(Shape.integer(60, MAX_GIVE_UP_SECONDS)));
  }

  /** How this node makes them. */
  SinkTypes types() {
    SinkTypes types =
        SinkTypes.standard()
            .with(
                WEBHOOK,
                (stream, spec) ->
                    new WebhookSink(http, http.target(spec.settings()), signer, userAgent));
    return kafka.map(factory -> types.with(KAFKA, factory)).orElse(types);
  }

  /**
   * Reads a definition that is of {@link #SHAPE}.
   *
   * @param at where it stands in the request
   */
  SinkSpec read(String at, JsonObject sink) {
    String name = sink.getString("name");
    if (!name.matches(NAME)) {
      throw invalid(at + ".name", NAME_RULE);
    }
    SinkSpec spec = SinkSpec.of(name, sink.getString("type"), settings(at, sink));
    Long giveUp = sink.getLong("giveUpAfterSeconds");
    SinkSpec bounded = giveUp == null ? spec : spec.givingUpAfter(Duration.ofSeconds(giveUp));
    return sink.getString("startAt", BEGINNING).equals(NOW) ? bounded.startingNow() : bounded;
  }

  /** Refuses a name of a stream that cannot stand in a path or a header. */
  static String streamName(String name) {
    if (!name.matches(NAME)) {
      throw invalid("stream", NAME_RULE);
    }
    return name;
  }

  private String settings(String at, JsonObject sink) {
    return switch (sink.getString("type")) {
      case KAFKA -> topic(at + ".topic", sink.getString("topic"));
      case WEBHOOK -> url(at + ".url", sink.getString("url"));
      default -> "";
    };
  }

  private String topic(String at, String topic) {
    if (!topic.matches(TOPIC) || topic.equals(".") || topic.equals("..")) {
      throw invalid(at, "must be up to 249 letters, digits, dots, underscores and hyphens");
    }
    if (kafka.isEmpty()) {
      throw Problem.of(
              "kafka-not-configured",
              409,
              "Kafka not configured",
              "This server knows no Kafka: start it with LOCKSTEP_KAFKA_BOOTSTRAP.")
          .with("field", at)
          .asException();
    }
    return topic;
  }

  private String url(String at, String url) {
    try {
      return http.target(url).toString();
    } catch (IllegalArgumentException e) {
      throw invalid(at, String.valueOf(e.getMessage()));
    }
  }

  private static RuntimeException invalid(String field, String why) {
    return Problem.invalid(field, why).asException();
  }

  /** What was defined, in a view of it. */
  static JsonObject define(JsonObject view, SinkSpec spec) {
    view.put("name", spec.name()).put("type", spec.type());
    if (spec.type().equals(KAFKA)) {
      view.put("topic", spec.settings());
    } else if (spec.type().equals(WEBHOOK)) {
      view.put("url", spec.settings());
    }
    return view.put("giveUpAfterSeconds", spec.giveUpAfter().map(Duration::toSeconds).orElse(null));
  }
}
