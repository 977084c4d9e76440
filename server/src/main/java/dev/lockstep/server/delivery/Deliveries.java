package dev.lockstep.server.delivery;

import static io.vertx.core.http.HttpMethod.GET;

import dev.lockstep.job.NewJob;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.delivery.Delivery.Mail;
import dev.lockstep.server.delivery.Delivery.Webhook;
import dev.lockstep.server.job.BackgroundJobs;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.mail.Mailer;
import dev.lockstep.server.outgoing.OutgoingHttp;
import dev.lockstep.server.outgoing.SignatureKind;
import dev.lockstep.server.outgoing.Target;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs the deliveries of schedules as jobs: webhooks in the queue {@code webhooks}, mail in the
 * queue {@code mail}. A delivery is done when the receiver accepts it (2xx, or the SMTP server's
 * acceptance). It is dead at once if the receiver refuses it for good (410, or SMTP's 5xx) or is
 * not an allowed target. Otherwise it is retried, after the queue's backoff or the time the
 * receiver names, until its attempts are used up. Thread-safe.
 */
public final class Deliveries {
  private final OutgoingHttp http;
  private final ReceiverSecrets secrets;
  private final Webhooks webhooks;
  private final Mails mails;

  /**
   * Loads or creates the secret from which receivers' secrets are derived. Blocks.
   *
   * @param configured secrets from the configuration, newest first; empty uses the database's
   * @param mailer empty if no SMTP server is configured
   */
  public Deliveries(
      Transactor transactor,
      OutgoingHttp http,
      Optional<Mailer> mailer,
      List<Secret> configured,
      DeliveryConfig config,
      String userAgent,
      DeliveryListener listener) {
    this.http = http;
    this.secrets = ReceiverSecrets.open(transactor, configured);
    this.webhooks = new Webhooks(http, secrets, config, userAgent, listener);
    this.mails = new Mails(mailer, config.firstBackoff(), listener);
  }

  public BackgroundJobs backgroundJobs() {
    return BackgroundJobs.none()
        .serving(webhooks.queue())
        .on(Webhooks.KIND, Webhook::read, webhooks::deliver)
        .serving(mails.queue())
        .on(Mails.KIND, Mail::read, mails::deliver);
  }

  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(
                GET,
                "/v1/webhooks/secret",
                "Shows the secret that signs requests to a receiver, for its configuration.")
            .by(Role.OPERATOR)
            .withQuery("url", "Any URL of the receiver; scheme, host and port count.")
            .answering(
                200,
                Shape.object()
                    .required("receiver", Shape.text(1, Target.MAX_LENGTH))
                    .required("secret", Shape.text(1, 100))
                    .required("lockstepSecret", Shape.text(1, 100)))
            .handledBy(this::showSecret));
  }

  /**
   * The job that a schedule's occurrences copy, from an object of the shape {@link
   * DeliveryJson#NEW}.
   *
   * @throws dev.lockstep.server.api.ProblemException that names what is invalid
   */
  public NewJob job(String schedule, JsonObject deliver, int maxAttempts) {
    Delivery delivery = DeliveryJson.read(schedule, deliver);
    if (delivery instanceof Webhook webhook) {
      target("deliver.webhook", webhook.url());
      return NewJob.of(Webhooks.QUEUE, Webhooks.KIND, webhook.payload())
          .withMaxAttempts(maxAttempts);
    }
    if (!mails.isConfigured()) {
      throw Problem.of(
              "mail-not-configured",
              409,
              "Mail not configured",
              "This server knows no SMTP server: start it with LOCKSTEP_SMTP_HOST and"
                  + " LOCKSTEP_SMTP_FROM.")
          .with("field", "deliver.mail")
          .asException();
    }
    return Mails.occurrence((Mail) delivery, maxAttempts);
  }

  /** The job of one occurrence, made from the schedule's template. */
  public static NewJob occurrence(NewJob job, Instant at, DeliveryConfig config) {
    return switch (job.kind()) {
      case Webhooks.KIND ->
          Webhooks.occurrence(
              Webhook.read(job.payload()).dueAt(at), job.maxAttempts(), config.perReceiver());
      case Mails.KIND -> Mails.occurrence(Mail.read(job.payload()).dueAt(at), job.maxAttempts());
      default -> job;
    };
  }

  /**
   * The headers that prove that a request comes from us, signed now.
   *
   * @param id identifies the message, the same at every attempt; without a dot
   */
  public Map<String, String> sign(SignatureKind kind, Target receiver, String id, byte[] body) {
    return webhooks.sign(kind, receiver, id, body);
  }

  private Target target(String field, String url) {
    try {
      return http.target(url);
    } catch (IllegalArgumentException e) {
      throw Problem.invalid(field, String.valueOf(e.getMessage())).asException();
    }
  }

  private Future<Answer> showSecret(Request request) {
    Target receiver = target("url", request.required("url"));
    ReceiverSecret newest = secrets.of(receiver).get(0);
    return Future.succeededFuture(
        Answer.ok(
                new JsonObject()
                    .put("receiver", receiver.origin())
                    .put("secret", newest.standardText())
                    .put("lockstepSecret", newest.lockstepText()))
            .withHeader("Cache-Control", "no-store"));
  }
}
