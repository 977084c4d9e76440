package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.mail.ScriptedSmtp;
import dev.lockstep.server.mail.SmtpConfig;
import dev.lockstep.server.mail.SmtpConfig.Tls;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import jakarta.mail.Message.RecipientType;
import jakarta.mail.internet.MimeMessage;
import jakarta.mail.internet.MimeMultipart;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Mail from a schedule to the mailbox, through a real SMTP server. */
@Timeout(120)
class MailDeliveryTest {
  private static final GreenMail smtp = smtp();

  @RegisterExtension
  static final RunningServer server =
      new RunningServer()
          .delivering(
              RunningServer.DELIVERIES
                  // The SMTP server is the operator's own choice, and may be a private one.
                  .withOutgoing(RunningServer.DELIVERIES.outgoing().withPrivateTargets(false))
                  .withSmtp(
                      Optional.of(
                          SmtpConfig.of(
                                  "127.0.0.1",
                                  smtp.getSmtp().getPort(),
                                  Tls.NONE,
                                  "The shop <shop@example.com>")
                              .withLogin("shop", Secret.of("secret")))));

  @RegisterExtension static final RunningServer without = new RunningServer();

  private static final ScriptedSmtp scripted =
      new ScriptedSmtp(
          (recipient, times) ->
              switch (recipient) {
                case "later@example.com" -> times == 1 ? 450 : 250;
                case "never@example.com" -> 550;
                default -> 250;
              });

  @RegisterExtension
  static final RunningServer choosy =
      new RunningServer()
          .delivering(
              RunningServer.DELIVERIES.withSmtp(
                  Optional.of(
                      SmtpConfig.of("127.0.0.1", scripted.port(), Tls.NONE, "shop@example.com"))));

  private static GreenMail smtp() {
    GreenMail started = new GreenMail(new ServerSetup(0, "127.0.0.1", ServerSetup.PROTOCOL_SMTP));
    started.start();
    started.setUser("shop@example.com", "shop", "secret");
    return started;
  }

  @AfterAll
  static void stop() {
    smtp.stop();
    scripted.close();
  }

  @Test
  void aScheduleSendsAMailToAllItsRecipients() throws Exception {
    JsonObject mail =
        mail("ann@example.com", "Grüße, Ann")
            .put("to", new JsonArray().add("ann@example.com").add("bob+x@example.org"))
            .put("text", "Hello ü\n.\nBcc: x@example.com")
            .put("html", "<p>Hello <b>ü</b></p>");
    JsonObject schedule = schedule(mail, 3);
    assertThat(schedule.getJsonObject("deliver").getJsonObject("mail")).isEqualTo(mail);

    List<MimeMessage> received = await("Grüße, Ann", 2);

    MimeMessage one = received.get(0);
    assertThat(one.getFrom()[0]).hasToString("The shop <shop@example.com>");
    assertThat(one.getRecipients(RecipientType.TO))
        .extracting(Object::toString)
        .containsExactly("ann@example.com", "bob+x@example.org");
    assertThat(one.getAllRecipients()).as("nobody else").hasSize(2);
    MimeMultipart parts = (MimeMultipart) one.getContent();
    assertThat(parts.getCount()).isEqualTo(2);
    assertThat(parts.getBodyPart(0).getContent().toString().replace("\r\n", "\n"))
        .isEqualTo("Hello ü\n.\nBcc: x@example.com");
    assertThat(parts.getBodyPart(1).getContent().toString()).contains("<b>ü</b>");
    JsonObject job = job(server, schedule, "done");
    assertThat(one.getMessageID()).isEqualTo("<" + job.getString("id") + "@example.com>");
    assertThat(received.get(1).getMessageID()).isEqualTo(one.getMessageID());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ann",
        "ann@",
        "@example.com",
        "a b@example.com",
        "Ann <ann@example.com>",
        "ann@example.com, bob@example.com",
        "ann@example.com\r\nRCPT TO:<bob@example.com>",
        "ann@example.com\nBcc: bob@example.com",
        "ann@exa_mple.com",
        "änn@example.com",
        "ann@example..com",
        "-@-example.com"
      })
  void whatIsNoAddressIsRefused(String address) throws Exception {
    JsonObject problem = refused(server, mail(address, "s"), 400, "invalid-request");
    assertThat(problem.getString("field")).isEqualTo("deliver.mail.to[0]");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\r\nBcc: b@example.com", "a\nb", "a\rb", "a\u0085b", "a\u2028b"})
  void aSubjectThatWouldBeAnotherHeaderIsRefused(String subject) throws Exception {
    JsonObject problem = refused(server, mail("ann@example.com", subject), 400, "invalid-request");
    assertThat(problem.getString("field")).isEqualTo("deliver.mail.subject");
  }

  @Test
  void aServerThatKnowsNoSmtpServerSaysSo() throws Exception {
    JsonObject problem = refused(without, mail("ann@example.com", "s"), 409, "mail-not-configured");
    assertThat(problem.getString("detail")).contains("LOCKSTEP_SMTP_HOST");
  }

  @Test
  void tooManyRecipientsAndUnknownFieldsAreRefused() throws Exception {
    JsonArray many = new JsonArray();
    for (int i = 0; i < 50; i++) {
      many.add("a" + i + "@example.com");
    }
    schedule(mail("x@example.com", "fifty").put("to", many), 1);
    refused(
        server, mail("x@e.com", "s").put("to", many.copy().add("x@e.com")), 400, "invalid-request");
    refused(server, mail("x@e.com", "s").put("bcc", "y@e.com"), 400, "unknown-field");
    refused(server, mail("x@e.com", "s").putNull("text"), 400, "invalid-request");
  }

  @Test
  void aMailThatIsPutOffComesAgainUnderTheSameIdAndOneThatIsRefusedIsDead() throws Exception {
    JsonObject later = scheduled(choosy, mail("later@example.com", "later"), 5);
    JsonObject never = scheduled(choosy, mail("never@example.com", "never"), 5);

    JsonObject done = job(choosy, later, "done");
    JsonObject dead = job(choosy, never, "dead");

    assertThat(done.getInteger("failedAttempts")).isEqualTo(1);
    assertThat(scripted.asked("later@example.com")).isEqualTo(2);
    assertThat(scripted.asked("never@example.com")).isEqualTo(1);
    assertThat(dead.getString("reason")).contains("550");
    assertThat(scripted.taken()).containsExactly("<" + done.getString("id") + "@example.com>");
  }

  @Test
  void aChangeOfAPartKeepsTheRestAndAWebhookReplacesAMail() throws Exception {
    JsonObject body = body(mail("ann@example.com", "old"), 1);
    body.put("when", new JsonObject().put("cron", "0 0 1 1 *").put("zone", "UTC"));
    String path =
        "/v1/schedules/"
            + server.operator().post("/v1/schedules", body).expect(201).getString("id");
    JsonObject mail = new JsonObject().put("subject", "new").put("html", "<p>x</p>");

    JsonObject changed = patch(path, 1, new JsonObject().put("mail", mail));
    assertThat(changed.getJsonObject("mail"))
        .isEqualTo(mail("ann@example.com", "new").put("html", "<p>x</p>"));
    JsonObject less =
        patch(path, 2, new JsonObject().put("mail", new JsonObject().putNull("html")));
    assertThat(less.getJsonObject("mail")).isEqualTo(mail("ann@example.com", "new"));
    JsonObject webhook = patch(path, 3, new JsonObject().put("webhook", "https://example.com/"));
    assertThat(webhook.fieldNames()).containsExactlyInAnyOrder("webhook", "body", "signature");
  }

  private static JsonObject patch(String path, int version, JsonObject deliver) throws Exception {
    return server
        .operator()
        .send(
            "PATCH",
            path,
            new JsonObject().put("deliver", deliver).encode(),
            Map.of("If-Match", "\"" + version + "\""))
        .expect(200)
        .getJsonObject("deliver");
  }

  private static JsonObject mail(String to, String subject) {
    return new JsonObject()
        .put("to", new JsonArray().add(to))
        .put("subject", subject)
        .put("text", "Hello");
  }

  private static JsonObject body(JsonObject mail, int maxAttempts) {
    return new JsonObject()
        .put("name", "a mail")
        .put("when", new JsonObject().put("at", Instant.now().toString()))
        .put("deliver", new JsonObject().put("mail", mail))
        .put("maxAttempts", maxAttempts);
  }

  private static JsonObject schedule(JsonObject mail, int maxAttempts) throws Exception {
    return scheduled(server, mail, maxAttempts);
  }

  private static JsonObject scheduled(RunningServer by, JsonObject mail, int maxAttempts)
      throws Exception {
    return by.operator().post("/v1/schedules", body(mail, maxAttempts)).expect(201);
  }

  private static JsonObject refused(RunningServer by, JsonObject mail, int status, String slug)
      throws Exception {
    return by.operator()
        .send("POST", "/v1/schedules", body(mail, 1).encode(), Map.of())
        .expectProblem(status, slug);
  }

  private static List<MimeMessage> received(String subject) throws Exception {
    List<MimeMessage> found = new ArrayList<>();
    for (MimeMessage one : smtp.getReceivedMessages()) {
      if (subject.equals(one.getSubject())) {
        found.add(one);
      }
    }
    return found;
  }

  private static List<MimeMessage> await(String subject, int count) throws Exception {
    Await.until(count + " mails", () -> received(subject).size() >= count);
    return received(subject);
  }

  private static JsonObject job(RunningServer by, JsonObject schedule, String state)
      throws Exception {
    String path = "/v1/jobs?queue=mail&state=" + state + "&text=" + schedule.getString("id");
    Await.until(path, () -> !by.operator().get(path).expect(200).getJsonArray("items").isEmpty());
    return by.operator().get(path).expect(200).getJsonArray("items").getJsonObject(0);
  }
}
