package dev.lockstep.outbox;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * An event in CloudEvents 1.0 form. Immutable unless the content's bytes are changed.
 *
 * @param attributes by name, in order: {@code specversion}, {@code id} (the event's), {@code
 *     source} (the stream), {@code type}, {@code subject} (the key), {@code time} (when it was
 *     appended) and the extension {@code sequence} (its sequence, in 19 digits, so that it sorts as
 *     text, as the extension requires); {@code traceparent} and {@code tracestate} if the event has
 *     such headers. {@code datacontenttype} is left out: each binding has its own place for it
 * @param content the data and its type
 */
public record CloudEvent(Map<String, String> attributes, Content content) {
  /** The media type of the structured form. */
  public static final String STRUCTURED = "application/cloudevents+json";

  private static final String[] TRACE = {"traceparent", "tracestate"};

  static CloudEvent of(Event event) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("specversion", "1.0");
    all.put("id", Long.toString(event.id()));
    all.put("source", uriReference(event.stream()));
    all.put("type", event.type());
    all.put("subject", event.key());
    all.put("time", event.appendedAt().toString());
    all.put("sequence", String.format(Locale.ROOT, "%019d", event.seq()));
    for (String name : TRACE) {
      Optional<String> value =
          event.headers().entrySet().stream()
              .filter(header -> header.getKey().equalsIgnoreCase(name))
              .map(Map.Entry::getValue)
              .filter(text -> !text.isEmpty())
              .findFirst();
      value.ifPresent(text -> all.put(name, text));
    }
    return new CloudEvent(all, event.content());
  }

  /** One relative path segment, percent-encoded except for unreserved characters. */
  private static String uriReference(String stream) {
    StringBuilder encoded = new StringBuilder();
    for (byte one : stream.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (one & 0xff);
      if (c < 0x80 && (Character.isLetterOrDigit(c) || "-._~".indexOf(c) >= 0)) {
        encoded.append(c);
      } else {
        encoded.append('%').append("%02X".formatted(one & 0xff));
      }
    }
    return encoded.toString();
  }

  /**
   * Encodes the event as one JSON object in UTF-8. Valid JSON data of a JSON type is embedded
   * unchanged; all other data is Base64.
   */
  public byte[] structured() {
    StringBuilder head = new StringBuilder("{");
    attributes.forEach((name, value) -> member(head, name, value).append(','));
    member(head, "datacontenttype", content.type()).append(',');
    ByteArrayOutputStream all = new ByteArrayOutputStream(head.length() + content.size() + 100);
    if (isJsonData()) {
      all.writeBytes(head.append("\"data\":").toString().getBytes(StandardCharsets.UTF_8));
      all.writeBytes(content.bytes());
    } else {
      String data = Base64.getEncoder().encodeToString(content.bytes());
      all.writeBytes(member(head, "data_base64", data).toString().getBytes(StandardCharsets.UTF_8));
    }
    all.write('}');
    return all.toByteArray();
  }

  private boolean isJsonData() {
    String type = content.type().toLowerCase(Locale.ROOT);
    int parameters = type.indexOf(';');
    String media = (parameters < 0 ? type : type.substring(0, parameters)).strip();
    if (!media.endsWith("/json") && !media.endsWith("+json")) {
      return false;
    }
    try {
      // Strict: invalid UTF-8 is not JSON, whatever the type says.
      return JsonText.is(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content.bytes())));
    } catch (CharacterCodingException e) {
      return false;
    }
  }

  private static StringBuilder member(StringBuilder json, String name, String value) {
    return quoted(quoted(json, name).append(':'), value);
  }

  private static StringBuilder quoted(StringBuilder json, String text) {
    json.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (Character.isISOControl(c)) {
        json.append("\\u%04x".formatted((int) c));
      } else {
        json.append(c);
      }
    }
    return json.append('"');
  }
}
