package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.server.WebhookReceiver.Answer;
import dev.lockstep.server.WebhookReceiver.Received;
import dev.lockstep.tx.Transactor;
import io.cloudevents.CloudEvent;
import io.cloudevents.jackson.JsonFormat;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Events to webhooks, read with the libraries of CloudEvents and of Standard Webhooks. */
@Timeout(120)
class CloudEventWebhookTest {
  private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  private static final AtomicInteger requests = new AtomicInteger();

  @RegisterExtension static final RunningServer server = new RunningServer();

  /** The first request to /twice is not taken. */
  @RegisterExtension
  static final StreamStage streams =
      new StreamStage(
          server,
          one ->
              Answer.of(
                  one.path().equals("/twice") && requests.getAndIncrement() == 0 ? 503 : 204));

  @Test
  void anEventIsACloudEventWhoseKeyTypeAndSequenceAreSigned() throws Exception {
    streams.define("trades.v1", streams.webhook("a", "/new"));
    JsonObject data = new JsonObject().put("text", "ありがとう").put("n", 1.50);
    JsonObject event = StreamStage.event("portfolio 1/é%", "trade.booked", data);
    server
        .operator()
        .send("POST", "/v1/streams/trades.v1/events", event.encode(), Map.of("traceparent", TRACE))
        .expect(201);
    Await.until("it has arrived", () -> !streams.received("/new").isEmpty());

    Received one = streams.received("/new").get(0);
    JsonObject shown = streams.events("trades.v1", "portfolio%201%2F%C3%A9%25").get(0);
    CloudEvent read = read(one);
    assertThat(one.header("content-type")).isEqualTo("application/cloudevents+json");
    assertThat(read.getId()).isEqualTo(shown.getString("id"));
    assertThat(read.getSource()).hasToString("trades.v1");
    assertThat(read.getType()).isEqualTo("trade.booked");
    assertThat(read.getSubject()).isEqualTo("portfolio 1/é%");
    assertThat(read.getExtension("sequence")).isEqualTo("0000000000000000001");
    assertThat(read.getExtension("traceparent")).isEqualTo(TRACE);
    assertThat(read.getDataContentType()).isEqualTo("application/json");
    assertThat(Objects.requireNonNull(read.getTime()).toInstant())
        .isEqualTo(Instant.parse(shown.getString("appendedAt")));
    assertThat(new JsonObject(one.body()).getJsonObject("data")).isEqualTo(data);
    assertThat(one.headers().keySet())
        .noneMatch(name -> name.toLowerCase(Locale.ROOT).startsWith("lockstep-"));

    Webhook receiver = new Webhook(secret("secret"));
    receiver.verify(one.body(), one.headers());
    assertThat(one.id()).isEqualTo("evt_" + read.getId());
    for (String[] swap :
        new String[][] {
          {"portfolio 1", "portfolio 2"},
          {"trade.booked", "trade.voided"},
          {"0000000000000000001", "0000000000000000002"}
        }) {
      String forged = one.body().replace(swap[0], swap[1]);
      assertThat(forged).isNotEqualTo(one.body());
      assertThatThrownBy(() -> receiver.verify(forged, one.headers()))
          .isInstanceOf(WebhookVerificationException.class);
    }
  }

  @Test
  void anEventThatComesAgainHasTheSameId() throws Exception {
    streams.define("again", streams.webhook("a", "/twice"));
    streams.append("again", "k");
    Await.until("it came twice", () -> streams.received("/twice").size() == 2);

    List<Received> both = streams.received("/twice");
    assertThat(both.get(1).id()).isEqualTo(both.get(0).id());
    assertThat(both.get(1).body()).isEqualTo(both.get(0).body());
    new Webhook(secret("secret")).verify(both.get(1).body(), both.get(1).headers());
  }

  @Test
  void aSinkFromBeforeGoesOnAsItsReceiverKnowsIt() throws Exception {
    Outbox outbox = new Outbox(new Transactor(server.database().dataSource()));
    outbox.define(
        "before", List.of(SinkSpec.of("a", "webhook", streams.receiverUrl() + "/before")), "test");
    streams.append("before", "k1");
    Await.until("it has arrived", () -> !streams.received("/before").isEmpty());
    Received one = streams.received("/before").get(0);
    assertThat(one.header("lockstep-key")).isEqualTo("k1");
    assertThat(one.header("lockstep-signature")).startsWith("t=");
    assertThat(one.header("content-type")).isEqualTo("application/json");
    assertThat(one.body()).isEqualTo("{}");

    JsonObject same = streams.webhook("a", "/before");
    streams.define("before", same);
    assertThat(streams.sink("before").getString("format")).isEqualTo("plain");
    assertThat(streams.sink("before").getString("signature")).isEqualTo("lockstep");
    streams.define("before", same.copy().put("format", "cloudevents").put("signature", "standard"));
    streams.append("before", "k2");
    Await.until("in the new way", () -> streams.received("/before").size() == 2);
    assertThat(read(streams.received("/before").get(1)).getSubject()).isEqualTo("k2");
  }

  private static CloudEvent read(Received one) {
    return new JsonFormat().deserialize(one.body().getBytes(StandardCharsets.UTF_8));
  }

  private static String secret(String name) throws Exception {
    return server
        .operator()
        .get("/v1/webhooks/secret?url=" + streams.receiverUrl())
        .expect(200)
        .getString(name);
  }
}
