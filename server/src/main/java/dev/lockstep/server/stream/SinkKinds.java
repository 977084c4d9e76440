package dev.lockstep.server.stream;

import dev.lockstep.kafka.KafkaTarget;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.outgoing.OutgoingHttp;
import dev.lockstep.server.outgoing.SignatureKind;
import dev.lockstep.server.outgoing.Target;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/** The kinds of sinks that this server supports: their JSON, and how each is made. Immutable. */
public final class SinkKinds {
  static final String KAFKA = "kafka";
  static final String WEBHOOK = "webhook";

  private static final String NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}";
  private static final String NAME_RULE =
      "must be up to 100 letters, digits, dots, underscores and hyphens, and begin with a letter or"
          + " digit";

  private static final String NOW = "now";
  private static final String BEGINNING = "beginning";
  private static final long MAX_GIVE_UP_SECONDS = Duration.ofDays(3_650).toSeconds();

  private static final Shape KAFKA_FORMAT =
      Shape.choice(
          Arrays.stream(KafkaTarget.Format.values())
              .map(KafkaTarget.Format::toString)
              .toArray(String[]::new));

  /** The shape of a sink's definition. */
  static final Shape SHAPE =
      Shape.oneOf(
          "type",
          Map.of(
              KAFKA,
              definition(KAFKA)
                  .required("topic", Shape.text(1, 249))
                  .optional("format", KAFKA_FORMAT),
              WEBHOOK,
              definition(WEBHOOK)
                  .required("url", Shape.text(1, Target.MAX_LENGTH))
                  .optional("format", Shape.choice(WebhookSettings.Format.texts()))
                  .optional("signature", Shape.choice(SignatureKind.texts())),
              SinkTypes.LOG,
              definition(SinkTypes.LOG)));

  private final OutgoingHttp http;
  private final Signer signer;
  private final String userAgent;
  private final Optional<SinkTypes.Factory> kafka;

  /** Proves to a receiver that a request is ours. */
  @FunctionalInterface
  public interface Signer {
    /**
     * The headers with the proof, signed now.
     *
     * @param id names the message at every attempt; without a dot
     */
    Map<String, String> sign(SignatureKind kind, Target receiver, String id, byte[] body);
  }

  /**
   * @param signer proves to receivers that a request is ours
   * @param kafka makes sinks whose settings are a {@link KafkaTarget}; empty if no broker is
   *     configured
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

  /** The factories of this node. */
  SinkTypes types() {
    SinkTypes types =
        SinkTypes.standard()
            .with(
                WEBHOOK,
                (stream, spec) -> {
                  WebhookSettings settings = WebhookSettings.parse(spec.settings());
                  Target target = http.target(settings.url());
                  return new WebhookSink(http.separate(), target, settings, signer, userAgent);
                });
    return kafka.map(factory -> types.with(KAFKA, factory)).orElse(types);
  }

  /**
   * Reads a definition of {@link #SHAPE}.
   *
   * @param at its path in the request
   * @param before the existing sink of this name, if any: settings that the definition omits stay,
   *     since the receiver relies on them
   */
  SinkSpec read(String at, JsonObject sink, Optional<SinkSpec> before) {
    String name = sink.getString("name");
    if (!name.matches(NAME)) {
      throw invalid(at + ".name", NAME_RULE);
    }
    SinkSpec spec = SinkSpec.of(name, sink.getString("type"), settings(at, sink, before));
    Long giveUp = sink.getLong("giveUpAfterSeconds");
    SinkSpec bounded = giveUp == null ? spec : spec.givingUpAfter(Duration.ofSeconds(giveUp));
    return sink.getString("startAt", BEGINNING).equals(NOW) ? bounded.startingNow() : bounded;
  }

  /** Refuses a stream name that does not fit into a path or a header. */
  static String streamName(String name) {
    if (!name.matches(NAME)) {
      throw invalid("stream", NAME_RULE);
    }
    return name;
  }

  private String settings(String at, JsonObject sink, Optional<SinkSpec> before) {
    String type = sink.getString("type");
    Optional<String> known = before.filter(one -> one.type().equals(type)).map(SinkSpec::settings);
    return switch (type) {
      case KAFKA -> kafka(at, sink, known).settings();
      case WEBHOOK -> webhook(at, sink, known).stored();
      default -> "";
    };
  }

  private WebhookSettings webhook(String at, JsonObject sink, Optional<String> known) {
    String url = url(at + ".url", sink.getString("url"));
    return known
        .map(stored -> WebhookSettings.parse(stored).to(url))
        .orElseGet(() -> WebhookSettings.standard(url))
        .with(sink.getString("format", ""), sink.getString("signature", ""));
  }

  private KafkaTarget kafka(String at, JsonObject sink, Optional<String> known) {
    KafkaTarget.Format format =
        KafkaTarget.Format.of(sink.getString("format", ""))
            .or(() -> known.map(stored -> KafkaTarget.parse(stored).format()))
            .orElse(KafkaTarget.Format.PLAIN);
    KafkaTarget target;
    try {
      target = new KafkaTarget(sink.getString("topic"), format);
    } catch (IllegalArgumentException e) {
      throw invalid(
          at + ".topic", "must be up to 249 letters, digits, dots, underscores and hyphens");
    }
    if (kafka.isEmpty()) {
      throw Problem.of(
              "kafka-not-configured",
              409,
              "Kafka not configured",
              "This server has no Kafka brokers: start it with LOCKSTEP_KAFKA_BOOTSTRAP.")
          .with("field", at + ".topic")
          .asException();
    }
    return target;
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

  /** Adds the definition to a view. */
  static JsonObject define(JsonObject view, SinkSpec spec) {
    view.put("name", spec.name()).put("type", spec.type());
    if (spec.type().equals(KAFKA)) {
      KafkaTarget target = KafkaTarget.parse(spec.settings());
      view.put("topic", target.topic()).put("format", target.format().toString());
    } else if (spec.type().equals(WEBHOOK)) {
      WebhookSettings settings = WebhookSettings.parse(spec.settings());
      view.put("url", settings.url())
          .put("format", settings.format().toString())
          .put("signature", settings.signature().toString());
    }
    return view.put("giveUpAfterSeconds", spec.giveUpAfter().map(Duration::toSeconds).orElse(null));
  }
}
