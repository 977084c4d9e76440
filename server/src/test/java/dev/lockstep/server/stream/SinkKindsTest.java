package dev.lockstep.server.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.server.api.ProblemException;
import dev.lockstep.server.outgoing.OutgoingConfig;
import dev.lockstep.server.outgoing.OutgoingHttp;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where a stream may be sent to, by the rules that users have. */
class SinkKindsTest {
  private static final Vertx vertx = Vertx.vertx();
  private static final OutgoingHttp http = new OutgoingHttp(vertx, OutgoingConfig.DEFAULT);
  private static final SinkTypes.Factory KAFKA =
      (stream, spec) -> {
        throw new IllegalArgumentException("not made here");
      };

  @AfterAll
  static void close() {
    http.close();
    vertx.close().await();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.0.0.1/",
        "http://localhost:8080/",
        "http://[::1]/",
        "http://10.0.0.1/hook",
        "http://169.254.169.254/latest/meta-data",
        "https://user:secret@example.com/"
      })
  void aTargetInsideIsRefusedWhenItIsDefinedAndWhenItWasDefinedBefore(String url) {
    assertThatThrownBy(() -> read(Optional.empty(), "webhook", "url", url))
        .isInstanceOfSatisfying(
            ProblemException.class,
            e -> assertThat(e.problem().fields()).containsEntry("field", "sinks[0].url"));
    SinkTypes types = kinds(Optional.empty()).types();
    assertThatThrownBy(() -> types.create("s", SinkSpec.of("a", "webhook", url)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aTopicIsKeptAsItIsWhereThereIsKafka() {
    assertThat(read(Optional.of(KAFKA), "kafka", "topic", "trades.v1").settings())
        .isEqualTo("trades.v1");
    assertThatThrownBy(() -> read(Optional.of(KAFKA), "kafka", "topic", ".."))
        .isInstanceOf(ProblemException.class);
    assertThat(kinds(Optional.of(KAFKA)).types().names())
        .containsExactlyInAnyOrder("kafka", "webhook", "log");
  }

  @Test
  void aSinkFromBeforeKeepsWhatItsReceiverExpectsUntilItIsTold() {
    SinkSpec before = SinkSpec.of("a", "webhook", "https://example.com/old");
    JsonObject same =
        new JsonObject().put("name", "a").put("type", "webhook").put("url", "https://example.com/");

    assertThat(SinkKinds.define(new JsonObject(), before))
        .contains(Map.entry("format", "plain"), Map.entry("signature", "lockstep"));
    SinkSpec kept = kinds(Optional.empty()).read("s", same, Optional.of(before));
    assertThat(SinkKinds.define(new JsonObject(), kept))
        .contains(
            Map.entry("url", "https://example.com/"),
            Map.entry("format", "plain"),
            Map.entry("signature", "lockstep"));
    SinkSpec changed =
        kinds(Optional.empty())
            .read("s", same.copy().put("format", "cloudevents"), Optional.of(kept));
    assertThat(SinkKinds.define(new JsonObject(), changed))
        .contains(Map.entry("format", "cloudevents"), Map.entry("signature", "lockstep"));
    SinkSpec made = kinds(Optional.empty()).read("s", same, Optional.empty());
    assertThat(SinkKinds.define(new JsonObject(), made))
        .contains(Map.entry("format", "cloudevents"), Map.entry("signature", "standard"));
    SinkSpec another =
        kinds(Optional.empty()).read("s", same, Optional.of(SinkSpec.of("a", "log", "")));
    assertThat(SinkKinds.define(new JsonObject(), another))
        .contains(Map.entry("format", "cloudevents"));
  }

  @Test
  void aTopicsFormatIsPlainUnlessToldAndStays() {
    JsonObject sink = new JsonObject().put("name", "a").put("type", "kafka").put("topic", "t");
    SinkKinds kinds = kinds(Optional.of(KAFKA));
    SinkSpec told = kinds.read("s", sink.copy().put("format", "cloudevents"), Optional.empty());

    assertThat(SinkKinds.define(new JsonObject(), kinds.read("s", sink, Optional.empty())))
        .contains(Map.entry("format", "plain"));
    assertThat(told.settings()).isEqualTo("t?format=cloudevents");
    assertThat(kinds.read("s", sink, Optional.of(told))).isEqualTo(told);
    assertThat(SinkKinds.define(new JsonObject(), told))
        .contains(Map.entry("topic", "t"), Map.entry("format", "cloudevents"));
  }

  @Test
  void whatAHeaderCannotSayIsPercentEncoded() {
    assertThat(WebhookSink.encoded("a key/1")).isEqualTo("a key/1");
    assertThat(WebhookSink.encoded("50% é\n")).isEqualTo("50%25 %C3%A9%0A");
  }

  private static SinkSpec read(
      Optional<SinkTypes.Factory> kafka, String type, String field, String value) {
    return kinds(kafka)
        .read(
            "sinks[0]",
            new JsonObject().put("name", "a").put("type", type).put(field, value),
            Optional.empty());
  }

  private static SinkKinds kinds(Optional<SinkTypes.Factory> kafka) {
    return new SinkKinds(http, (kind, receiver, id, body) -> Map.of(), "a test", kafka);
  }
}
