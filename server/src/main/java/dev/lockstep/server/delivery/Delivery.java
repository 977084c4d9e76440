package dev.lockstep.server.delivery;

import dev.lockstep.job.NewJob;
import dev.lockstep.server.outgoing.SignatureKind;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** What is delivered where, as a job's payload stores it. */
public sealed interface Delivery {
  /** The schedule it belongs to. */
  String schedule();

  /** The occurrence it belongs to; a retry keeps it. */
  Optional<Instant> dueAt();

  /** The same delivery for that occurrence. */
  Delivery dueAt(Instant at);

  String payload();

  /** Reads a job that {@link Deliveries#job} made. */
  static Delivery of(NewJob job) {
    return job.kind().equals(Mails.KIND) ? Mail.read(job.payload()) : Webhook.read(job.payload());
  }

  /**
   * A POST.
   *
   * @param body JSON text, sent byte for byte
   * @param dueAt empty in the schedule's template
   */
  record Webhook(
      String schedule, String url, String body, SignatureKind signature, Optional<Instant> dueAt)
      implements Delivery {

    static Webhook read(String payload) {
      JsonObject json = new JsonObject(payload);
      return new Webhook(
          json.getString("schedule"),
          json.getString("webhook"),
          json.getString("body"),
          // A payload without a signature kind predates the choice: its receiver knows the old one.
          Optional.ofNullable(json.getString("signature"))
              .flatMap(SignatureKind::of)
              .orElse(SignatureKind.LOCKSTEP),
          due(json));
    }

    @Override
    public Webhook dueAt(Instant at) {
      return new Webhook(schedule, url, body, signature, Optional.of(at));
    }

    @Override
    public String payload() {
      JsonObject json =
          new JsonObject()
              .put("schedule", schedule)
              .put("webhook", url)
              .put("body", body)
              .put("signature", signature.toString());
      return withDue(json, dueAt).encode();
    }
  }

  /**
   * A mail.
   *
   * @param dueAt empty in the schedule's template
   */
  record Mail(
      String schedule,
      List<String> to,
      String subject,
      String text,
      Optional<String> html,
      Optional<Instant> dueAt)
      implements Delivery {

    public Mail {
      to = List.copyOf(to);
    }

    static Mail read(String payload) {
      JsonObject json = new JsonObject(payload);
      return new Mail(
          json.getString("schedule"),
          json.getJsonArray("to").stream().map(String.class::cast).toList(),
          json.getString("subject"),
          json.getString("text"),
          Optional.ofNullable(json.getString("html")),
          due(json));
    }

    @Override
    public Mail dueAt(Instant at) {
      return new Mail(schedule, to, subject, text, html, Optional.of(at));
    }

    @Override
    public String payload() {
      JsonObject json =
          new JsonObject()
              .put("schedule", schedule)
              .put("to", new JsonArray(to))
              .put("subject", subject)
              .put("text", text);
      html.ifPresent(it -> json.put("html", it));
      return withDue(json, dueAt).encode();
    }
  }

  private static Optional<Instant> due(JsonObject json) {
    return Optional.ofNullable(json.getString("dueAt")).map(Instant::parse);
  }

  private static JsonObject withDue(JsonObject json, Optional<Instant> dueAt) {
    dueAt.ifPresent(at -> json.put("dueAt", at.toString()));
    return json;
  }
}
