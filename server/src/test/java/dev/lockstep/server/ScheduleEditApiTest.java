package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import dev.lockstep.server.WebhookReceiver.Received;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A schedule that is due when it is changed over HTTP delivers as it was, then as it is. */
@Timeout(120)
class ScheduleEditApiTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @Test
  void aDueOneOffIsDeliveredAsItWasAlthoughItIsRenamed() throws Exception {
    try (WebhookReceiver receiver = new WebhookReceiver()) {
      Instant at = Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(20);
      String path = dueAt(at, receiver.url() + "/old");

      Reply renamed =
          patch(path, "\"1\"", new JsonObject().put("name", "b").put("catchUp", "none"));

      assertThat(renamed.header("ETag")).hasValue("\"2\"");
      assertThat(renamed.expect(200).getValue("nextAt")).isNull();
      Await.until("it is delivered", () -> !receiver.received("/old").isEmpty());
      Received delivery = receiver.received("/old").get(0);
      assertThat(Instant.parse(delivery.header("Lockstep-Due"))).isEqualTo(at);
      patch(path, "\"1\"", new JsonObject().put("name", "c"))
          .expectProblem(412, "version-mismatch");
    }
  }

  @Test
  void aDueRunGoesToTheOldAddressAndTheNextToTheNew() throws Exception {
    try (WebhookReceiver receiver = new WebhookReceiver()) {
      Instant at = Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(20);
      String path = dueAt(at, receiver.url() + "/old");
      Instant soon = Instant.now().truncatedTo(ChronoUnit.SECONDS).plusSeconds(2);

      JsonObject changed =
          patch(
                  path,
                  "\"1\"",
                  new JsonObject()
                      .put("when", new JsonObject().put("at", soon.toString()))
                      .put("deliver", new JsonObject().put("webhook", receiver.url() + "/new")))
              .expect(200);

      assertThat(Instant.parse(changed.getString("nextAt"))).isAfterOrEqualTo(soon);
      Await.until("both are delivered", () -> receiver.received().size() == 2);
      assertThat(receiver.received("/old")).hasSize(1);
      assertThat(receiver.received("/new")).hasSize(1);
    }
  }

  /** A schedule whose instant has passed while no node has come to it: its tick is still away. */
  private static String dueAt(Instant at, String webhook) throws Exception {
    JsonObject made =
        server
            .operator()
            .post(
                "/v1/schedules",
                new JsonObject()
                    .put("name", "a")
                    .put("when", new JsonObject().put("at", at.plus(Duration.ofDays(1)).toString()))
                    .put("deliver", new JsonObject().put("webhook", webhook)))
            .expect(201);
    server
        .database()
        .execute(
            """
            UPDATE lockstep.job_schedule
            SET spec = '{"at":"%1$s"}', next_at = '%1$s',
                done_until = '%1$s'::timestamptz - interval '1 minute'
            WHERE id = '%2$s'"""
                .formatted(at, made.getString("id")));
    return "/v1/schedules/" + made.getString("id");
  }

  private static Reply patch(String path, String ifMatch, JsonObject body) throws Exception {
    return server.operator().send("PATCH", path, body.encode(), Map.of("If-Match", ifMatch));
  }
}
