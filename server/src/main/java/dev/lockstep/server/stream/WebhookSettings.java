package dev.lockstep.server.stream;

import dev.lockstep.server.outgoing.SignatureKind;
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What a webhook sink's settings say, as they are stored with it. */
record WebhookSettings(String url, Format format, SignatureKind signature) {

  /** What a request says of its event. */
  enum Format {
    /** The body is a CloudEvent, which says everything. */
    CLOUDEVENTS,
    /** The body is the data; headers {@code lockstep-…}, which nobody signs, say the rest. */
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

  /** What a new sink gets that does not say. */
  static WebhookSettings standard(String url) {
    return new WebhookSettings(url, Format.CLOUDEVENTS, SignatureKind.STANDARD);
  }

  /** A URL alone is from before there was a choice: its receiver knows the old way. */
  static WebhookSettings parse(String stored) {
    if (!stored.startsWith("{")) {
      return new WebhookSettings(stored, Format.PLAIN, SignatureKind.LOCKSTEP);
    }
    JsonObject json = new JsonObject(stored);
    WebhookSettings standard = standard(json.getString("url"));
    return standard.with(json.getString("format", ""), json.getString("signature", ""));
  }

  /** With these where they name anything. */
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
