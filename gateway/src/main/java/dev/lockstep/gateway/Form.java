package dev.lockstep.gateway;

import dev.lockstep.sql.Sha256;
import io.vertx.core.json.JsonObject;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a request, form-encoded as Stripe's clients send them: {@code
 * amount=500&metadata[order]=7}.
 */
final class Form {
  private static final int MAX_METADATA = 50;

  // Sorted, so that the same parameters in another order have the same fingerprint.
  private final SortedMap<String, String> values;

  private Form(SortedMap<String, String> values) {
    this.values = values;
  }

  /**
   * @throws Refusal if it is not form-encoded
   */
  static Form parse(String text) {
    SortedMap<String, String> values = new TreeMap<>();
    if (text.isEmpty()) {
      return new Form(values);
    }
    try {
      for (String pair : text.split("&", -1)) {
        int equals = pair.indexOf('=');
        String name = equals < 0 ? pair : pair.substring(0, equals);
        String value = equals < 0 ? "" : pair.substring(equals + 1);
        values.put(decode(name), decode(value));
      }
      if (values.toString().indexOf('\0') >= 0) {
        // PostgreSQL cannot store it, and one bad request must not spoil a batch.
        throw new IllegalArgumentException("NUL");
      }
      return new Form(values);
    } catch (IllegalArgumentException e) {
      throw new Refusal(StripeError.invalid(null, "The body is not form-encoded."));
    }
  }

  @Nullable String find(String name) {
    String value = values.get(name);
    return value == null || value.isEmpty() ? null : value;
  }

  String require(String name) {
    String value = find(name);
    if (value == null) {
      throw new Refusal(StripeError.missing(name));
    }
    return value;
  }

  boolean isTrue(String name) {
    return "true".equals(values.get(name));
  }

  Optional<Long> findLong(String name) {
    String value = find(name);
    if (value == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(Long.parseLong(value));
    } catch (NumberFormatException e) {
      throw new Refusal(
          StripeError.invalid(name, "Invalid integer: " + value)
              .withCode("parameter_invalid_integer"));
    }
  }

  /** What was sent as {@code metadata[key]=value}. */
  JsonObject metadata() {
    JsonObject metadata = new JsonObject();
    for (Map.Entry<String, String> entry : values.tailMap("metadata[").entrySet()) {
      String name = entry.getKey();
      if (!name.startsWith("metadata[") || !name.endsWith("]")) {
        break;
      }
      metadata.put(name.substring("metadata[".length(), name.length() - 1), entry.getValue());
    }
    if (metadata.size() > MAX_METADATA) {
      throw new Refusal(StripeError.invalid("metadata", "At most 50 keys are allowed."));
    }
    return metadata;
  }

  /** A hash of the route and all parameters. */
  String fingerprint(String route) {
    MessageDigest digest = Sha256.digest();
    add(digest, route);
    values.forEach(
        (name, value) -> {
          add(digest, name);
          add(digest, value);
        });
    return HexFormat.of().formatHex(digest.digest());
  }

  private static void add(MessageDigest digest, String text) {
    digest.update(text.getBytes(StandardCharsets.UTF_8));
    // No parameter contains it, so no two forms run together.
    digest.update((byte) 0);
  }

  private static String decode(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
