package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.WebhookReceiver.Answer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Receivers that do not answer, and others that must not notice. */
@Timeout(240)
class SlowReceiverTest {
  /** More patient than any test: only an answer ends a request. */
  @RegisterExtension
  static final RunningServer server =
      new RunningServer()
          .delivering(
              RunningServer.DELIVERIES.withOutgoing(
                  RunningServer.DELIVERIES
                      .outgoing()
                      .withTimeouts(Duration.ofSeconds(10), Duration.ofMinutes(10))));

  @Test
  void aReceiverThatDoesNotAnswerHoldsUpNoOther() throws Exception {
    CountDownLatch released = new CountDownLatch(1);
    try (WebhookReceiver slow = new WebhookReceiver().answering(one -> late(released));
        WebhookReceiver fast = new WebhookReceiver()) {
      try {
        schedule(100, slow.url() + "/slow");
        Await.until("the first are there", () -> slow.underWay() > 0);
        schedule(1, fast.url() + "/fast");
        Await.until("delivered meanwhile", () -> !fast.received("/fast").isEmpty());
        assertThat(slow.received("/slow")).as("answered").isEmpty();
      } finally {
        released.countDown();
      }
      Await.until("all came", () -> slow.received("/slow").size() == 100);
      Await.until("and are done", () -> jobs("done", slow.url()).size() == 100);
      assertThat(jobs("done", slow.url()).stream().map(JsonObject.class::cast))
          .as("waiting spends no attempt")
          .allMatch(job -> job.getInteger("failedAttempts") == 0);
    }
  }

  @Test
  void manyReceiversThatDoNotAnswerLeaveRoomForOneThatDoes() throws Exception {
    CountDownLatch released = new CountDownLatch(1);
    List<WebhookReceiver> slow = new ArrayList<>();
    try (WebhookReceiver fast = new WebhookReceiver()) {
      try {
        for (int i = 0; i < 12; i++) {
          WebhookReceiver one = new WebhookReceiver().answering(request -> late(released));
          slow.add(one);
          schedule(12, one.url() + "/slow");
        }
        for (WebhookReceiver one : slow) {
          Await.until("each is sent to", () -> one.underWay() > 0);
        }
        schedule(20, fast.url() + "/fast");
        Await.until("delivered meanwhile", () -> fast.received("/fast").size() == 20);
      } finally {
        released.countDown();
      }
      for (WebhookReceiver one : slow) {
        Await.until("all came", () -> one.received("/slow").size() == 12);
      }
    } finally {
      slow.forEach(WebhookReceiver::close);
    }
  }

  @Test
  void aSinkWhoseReceiverDoesNotAnswerHoldsUpNoOtherSinkOfThatReceiver() throws Exception {
    CountDownLatch released = new CountDownLatch(1);
    try (WebhookReceiver receiver =
        new WebhookReceiver()
            .answering(one -> one.path().equals("/slow") ? late(released) : Answer.of(204))) {
      try {
        define("both", receiver.url(), "/slow", "/fast");
        define("beside", receiver.url(), "/other");
        append("both", 200);
        append("beside", 20);
        Await.until("one sink's", () -> receiver.received("/fast").size() >= 200);
        Await.until("another stream's", () -> receiver.received("/other").size() >= 20);
        assertThat(receiver.received("/slow")).as("answered").isEmpty();
      } finally {
        released.countDown();
      }
      Await.until("the slow one's", () -> receiver.received("/slow").size() >= 200);
    }
  }

  private static Answer late(CountDownLatch released) {
    try {
      released.await();
      return Answer.of(204);
    } catch (InterruptedException e) {
      return Answer.of(503);
    }
  }

  private static void schedule(int count, String url) throws Exception {
    for (int i = 0; i < count; i++) {
      server
          .operator()
          .post(
              "/v1/schedules",
              new JsonObject()
                  .put("name", "a delivery")
                  .put("when", new JsonObject().put("at", Instant.now().toString()))
                  .put("deliver", new JsonObject().put("webhook", url)))
          .expect(201);
    }
  }

  private static JsonArray jobs(String state, String url) throws Exception {
    return server
        .operator()
        .get("/v1/jobs?limit=200&kind=webhook&state=" + state + "&text=" + url)
        .expect(200)
        .getJsonArray("items");
  }

  private static void define(String stream, String url, String... paths) throws Exception {
    JsonArray sinks = new JsonArray();
    for (String path : paths) {
      sinks.add(
          new JsonObject()
              .put("name", path.substring(1))
              .put("type", "webhook")
              .put("url", url + path));
    }
    server
        .operator()
        .put("/v1/streams/" + stream, new JsonObject().put("sinks", sinks))
        .expect(200);
  }

  private static void append(String stream, int keys) throws Exception {
    JsonArray events = new JsonArray();
    for (int i = 0; i < keys; i++) {
      events.add(StreamStage.event("k" + i, "t", new JsonObject()));
    }
    server
        .operator()
        .send("POST", "/v1/streams/" + stream + "/events", events.encode(), Map.of())
        .expect(201);
  }
}
