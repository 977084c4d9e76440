package dev.lockstep.server.stream;

import dev.lockstep.server.outgoing.SignatureKind;
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The settings of a webhook sink, as stored with it. */
record WebhookSettings(String url, Format format, SignatureKind signature) {

  /** How a request carries its event. */
  enum Format {
    /** The body is a CloudEvent, which contains everything. */
    CLOUDEVENTS,
    /** The body is the data; unsigned {@code lockstep-…} headers carry the rest. */
    PLAIN;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }

    static Optional<Format> of(String text) {
      return Arrays.stream(values()).filter(one -> one.toString().equals(text)).findFirst();
    }

    static String[] texts() {
      return Arrays.stream(values()).map(Format::toString).toArray(String[]::new);
    }
  }

  /** The defaults of a new sink. */
  static WebhookSettings standard(String url) {
    return new WebhookSettings(url, Format.CLOUDEVENTS, SignatureKind.STANDARD);
  }

  /** A plain URL predates the choice: its receiver knows the old format. */
  static WebhookSettings parse(String stored) {
    if (!stored.startsWith("{")) {
      return new WebhookSettings(stored, Format.PLAIN, SignatureKind.LOCKSTEP);
    }
    JsonObject json = new JsonObject(stored);
    WebhookSettings standard = standard(json.getString("url"));
    return standard.with(json.getString("format", ""), json.getString("signature", ""));
  }

  /** Replaces the settings that are named. */
  WebhookSettings with(String otherFormat, String otherSignature) {
    return new WebhookSettings(
        url,
        Format.of(otherFormat).orElse(format),
        SignatureKind.of(otherSignature).orElse(signature));
  }

  WebhookSettings to(String otherUrl) {
    return new WebhookSettings(otherUrl, format, signature);
  }

  String stored() {
    return new JsonObject()
        .put("url", url)
        .put("format", format.toString())
        .put("signature", signature.toString())
        .encode();
  }
}
