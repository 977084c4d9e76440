package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How an event is written as a CloudEvent; other modules read it with the project's own library.
 */
class CloudEventTest {

  @Test
  void theWholeEventIsOneObjectWithItsDataToTheLastDigit() {
    Event event = event("trades", Content.json("{\"n\": 0.10000000000000000001}"), Map.of());

    assertThat(text(event))
        .isEqualTo(
            "{\"specversion\":\"1.0\",\"id\":\"7\",\"source\":\"trades\",\"type\":\"trade.\\\"x\\\"\","
                + "\"subject\":\"a\\\\é\\u000a\",\"time\":\"2026-01-02T03:04:05Z\","
                + "\"sequence\":\"0000000000000000012\",\"datacontenttype\":\"application/json\","
                + "\"data\":{\"n\": 0.10000000000000000001}}");
  }

  @Test
  void sequencesSortAsTextAsTheyDoAsNumbers() {
    String before = sequence(9);
    String after = sequence(10);
    assertThat(before.compareTo(after)).isNegative();
    assertThat(sequence(Long.MAX_VALUE)).hasSameSizeAs(before).endsWith("9223372036854775807");
  }

  private static String sequence(long seq) {
    Event event = new Event(1, "s", "k", seq, "t", Content.json("1"), Map.of(), Instant.EPOCH);
    return String.valueOf(event.asCloudEvent().attributes().get("sequence"));
  }

  @Test
  void aStreamIsAPathSegmentAndTracesTravelAlong() {
    Event event =
        event(
            "a b:c/é",
            Content.json("1"),
            Map.of("Traceparent", "00-1-2-01", "tracestate", "", "other", "x"));

    assertThat(event.asCloudEvent().attributes())
        .containsEntry("source", "a%20b%3Ac%2F%C3%A9")
        .containsEntry("traceparent", "00-1-2-01")
        .doesNotContainKeys("tracestate", "other");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"1,\"subject\":\"another\"", "{}}", "{", "", "'a'", "{\"a\":1,}", "NaN", "01"})
  void whatOnlySaysThatItIsJsonCannotForgeAnAttribute(String data) {
    assertThat(text(event("s", Content.json(data), Map.of())))
        .contains("\"data_base64\":\"")
        .doesNotContain("\"data\":")
        .doesNotContain("another");
  }

  @Test
  void otherDataIsInBase64() {
    byte[] bytes = {0, 1, (byte) 0xff};
    assertThat(text(event("s", Content.of("image/png", bytes), Map.of())))
        .contains("\"datacontenttype\":\"image/png\",\"data_base64\":\"AAH/\"}");
    assertThat(text(event("s", Content.of("application/json", bytes), Map.of())))
        .contains("\"data_base64\":\"AAH/\"}");
    assertThat(
            text(
                event(
                    "s",
                    Content.of("application/x+json; v=1", "[]".getBytes(StandardCharsets.UTF_8)),
                    Map.of())))
        .endsWith("\"data\":[]}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-0.5e+10",
        "1E-2",
        " \t\r\n[ ] ",
        "{ \"a\" : [ 1 , { \"b\" : { } } , null ] , \"c\" : true }",
        "\"\\u00e9\\n\\\"\\\\\\/ é\"",
        "false",
        "[[],{},[{}]]"
      })
  void jsonIsRecognised(String text) {
    assertThat(JsonText.is(text)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-",
        ".5",
        "1.",
        "1e",
        "+1",
        "tru",
        "nulll",
        "\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\u0001\"",
        "[1 2]",
        "[,]",
        "{\"a\"}",
        "{\"a\":}",
        "{1:2}",
        "{\"a\":1 \"b\":2}",
        "[1]]",
        "[}",
        "{]",
        "// c",
        "\u00a01"
      })
  void whatIsNoJsonIsRecognised(String text) {
    assertThat(JsonText.is(text)).isFalse();
  }

  @Test
  void nestingHasALimit() {
    int most = JsonText.MAX_DEPTH;
    assertThat(JsonText.is("[".repeat(most) + "1" + "]".repeat(most))).isTrue();
    assertThat(JsonText.is("[".repeat(most + 1) + "1" + "]".repeat(most + 1))).isFalse();
  }

  private static Event event(String stream, Content content, Map<String, String> headers) {
    return new Event(
        7,
        stream,
        "a\\é\n",
        12,
        "trade.\"x\"",
        content,
        headers,
        Instant.parse("2026-01-02T03:04:05Z"));
  }

  private static String text(Event event) {
    return new String(event.asCloudEvent().structured(), StandardCharsets.UTF_8);
  }
}
