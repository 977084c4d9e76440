package dev.lockstep.server.delivery;

import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.server.delivery.Delivery.Mail;
import dev.lockstep.server.delivery.Delivery.Webhook;
import dev.lockstep.server.mail.MailAddress;
import dev.lockstep.server.mail.Message;
import dev.lockstep.server.outgoing.SignatureKind;
import dev.lockstep.server.outgoing.Target;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Deliveries in the API's form: {@code {"webhook": …}} or {@code {"mail": …}}. */
public final class DeliveryJson {
  /** Leaves room for the rest of a request below its limit. */
  private static final int MAX_TEXT = 60_000;

  private static final Shape URL = Shape.text(1, Target.MAX_LENGTH);
  private static final Shape SIGNATURE = Shape.choice(SignatureKind.texts());
  private static final Shape ADDRESS = Shape.text(3, MailAddress.MAX_LENGTH);
  private static final Shape ADDRESSES = Shape.list(ADDRESS, 1, Message.MAX_RECIPIENTS);
  private static final Shape SUBJECT = Shape.text(1, Message.MAX_SUBJECT_LENGTH);
  private static final Shape TEXT = Shape.text(0, MAX_TEXT);

  public static final Shape NEW =
      either(
          Shape.object()
              .required("webhook", URL)
              .optional("body", Shape.anything())
              .optional("signature", SIGNATURE),
          Shape.object()
              .required("to", Shape.oneOrMany(ADDRESS, Message.MAX_RECIPIENTS))
              .required("subject", SUBJECT)
              .required("text", TEXT)
              .optional("html", TEXT));

  /** The parts to change; a delivery of the other kind replaces it whole. */
  public static final ObjectShape CHANGE =
      Shape.object()
          .optional("webhook", URL)
          .optional("body", Shape.anything())
          .optional("signature", SIGNATURE)
          .optional(
              "mail",
              Shape.object()
                  .optional("to", Shape.oneOrMany(ADDRESS, Message.MAX_RECIPIENTS))
                  .optional("subject", SUBJECT)
                  .optional("text", TEXT)
                  .optional("html", Shape.nullable(TEXT)));

  public static final Shape VIEW =
      either(
          Shape.object()
              .required("webhook", URL)
              .required("body", Shape.anything())
              .required("signature", SIGNATURE),
          Shape.object()
              .required("to", ADDRESSES)
              .required("subject", SUBJECT)
              .required("text", TEXT)
              .optional("html", TEXT));

  private static final Cases<Delivery, JsonObject> VIEWS =
      Cases.<Delivery, JsonObject>over(Delivery.class)
          .when(Webhook.class, webhook -> view(webhook))
          .when(Mail.class, mail -> view(mail))
          .complete();

  private DeliveryJson() {}

  private static Shape either(ObjectShape webhook, ObjectShape mail) {
    return Shape.oneOfHaving(
        Map.of("webhook", webhook, "mail", Shape.object().required("mail", mail)));
  }

  public static JsonObject view(Delivery delivery) {
    return VIEWS.of(delivery);
  }

  private static JsonObject view(Webhook webhook) {
    return new JsonObject()
        .put("webhook", webhook.url())
        .put("body", new JsonObject(webhook.body()))
        .put("signature", webhook.signature().toString());
  }

  private static JsonObject view(Mail mail) {
    JsonObject json =
        new JsonObject()
            .put("to", new JsonArray(mail.to()))
            .put("subject", mail.subject())
            .put("text", mail.text());
    mail.html().ifPresent(html -> json.put("html", html));
    return new JsonObject().put("mail", json);
  }

  /**
   * Applies a change of the shape {@link #CHANGE} to a view; the result still needs a check against
   * {@link #NEW}.
   */
  public static JsonObject changed(JsonObject view, JsonObject change) {
    boolean other =
        view.containsKey("mail") ? change.containsKey("webhook") : change.containsKey("mail");
    if (other) {
      return change;
    }
    JsonObject changed = view.copy().mergeIn(change, false);
    if (view.containsKey("mail") && change.containsKey("mail")) {
      JsonObject mail = view.getJsonObject("mail").copy().mergeIn(change.getJsonObject("mail"));
      if (mail.getValue("html") == null) {
        mail.remove("html");
      }
      changed.put("mail", mail);
    }
    return changed;
  }

  /** Reads an object of the shape {@link #NEW}, without looking up names or targets. */
  static Delivery read(String schedule, JsonObject deliver) {
    if (deliver.containsKey("mail")) {
      return mail(schedule, deliver.getJsonObject("mail"));
    }
    return new Webhook(
        schedule,
        deliver.getString("webhook"),
        deliver.getJsonObject("body", new JsonObject()).encode(),
        Optional.ofNullable(deliver.getString("signature"))
            .flatMap(SignatureKind::of)
            .orElse(SignatureKind.STANDARD),
        Optional.empty());
  }

  private static Mail mail(String schedule, JsonObject mail) {
    List<String> to =
        mail.getValue("to") instanceof JsonArray list
            ? list.stream().map(String.class::cast).toList()
            : List.of(mail.getString("to"));
    for (int i = 0; i < to.size(); i++) {
      if (!MailAddress.is(to.get(i))) {
        throw Problem.invalid(
                "deliver.mail.to[" + i + "]",
                "must be an address such as ann@example.com, in ASCII, without a name")
            .asException();
      }
    }
    String subject = mail.getString("subject");
    if (!Message.isSubject(subject)) {
      throw Problem.invalid("deliver.mail.subject", "must be one line, without control characters")
          .asException();
    }
    return new Mail(
        schedule,
        to,
        subject,
        mail.getString("text"),
        Optional.ofNullable(mail.getString("html")),
        Optional.empty());
  }
}
