package dev.lockstep.server.api;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Parses a body as strict RFC 8259: UTF-8 without byte order mark, no comments, no duplicate
 * members, nothing after the value. Requests are smuggled past checks wherever two parsers differ.
 *
 * <p>Numbers keep their value or are refused, and the problem names the field. Digits alone are an
 * exact whole number. A number with a fraction or an exponent is a double, even 1.0; it must be in
 * a double's range and must not have more digits than a double keeps.
 */
final class JsonBody {
  /** The deepest nesting of objects and lists. */
  static final int MAX_DEPTH = 64;

  /** The longest member name, in characters. */
  static final int MAX_NAME_LENGTH = 256;

  /** The longest number, in characters. */
  static final int MAX_NUMBER_LENGTH = 100;

  /** This many significant digits tell any two doubles apart; further ones would be lost. */
  static final int MAX_FRACTION_DIGITS = 17;

  private static final JsonFactory STRICT =
      JsonFactory.builder()
          // Names are the client's choice: none is kept beyond its request.
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  // Checked below, where the number's place is known. The body's length bounds it.
                  .maxNumberLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]++";
  private static final Pattern JSON_TYPE =
      Pattern.compile("application/json\\s*+", Pattern.CASE_INSENSITIVE);
  private static final Pattern PARAMETER =
      Pattern.compile(
          ";[ \\t]*+("
              + TOKEN
              + ")=("
              + TOKEN
              // Possessive: a group that can backtrack costs one stack frame per character.
              + "|\"(?:[^\"\\\\\\x00-\\x1f]|\\\\.)*+\")[ \\t]*+");

  private final JsonParser parser;

  /** The parser's path: member names and list indexes, outermost first. */
  private final Deque<Object> path = new ArrayDeque<>(MAX_DEPTH);

  private JsonBody(JsonParser parser) {
    this.parser = parser;
  }

  /**
   * Refuses a body that is not declared as JSON in UTF-8.
   *
   * @param types the headers {@code Content-Type}
   * @param encoding the header {@code Content-Encoding}
   */
  static void requireJson(List<String> types, @Nullable String encoding) {
    if (types.size() != 1
        || !isJson(types.get(0))
        || (encoding != null && !encoding.strip().equalsIgnoreCase("identity"))) {
      throw Problem.of(
              "unsupported-media-type",
              415,
              "Unsupported media type",
              "Send the body as application/json, in UTF-8 and not compressed.")
          .asException();
    }
  }

  private static boolean isJson(String contentType) {
    Matcher type = JSON_TYPE.matcher(contentType);
    if (!type.lookingAt()) {
      return false;
    }
    Matcher parameter = PARAMETER.matcher(contentType).region(type.end(), contentType.length());
    while (parameter.lookingAt()) {
      String value = parameter.group(2).replace("\"", "");
      if (parameter.group(1).equalsIgnoreCase("charset")
          && !value.toLowerCase(Locale.ROOT).equals("utf-8")) {
        return false;
      }
      parameter.region(parameter.end(), contentType.length());
    }
    return parameter.regionStart() == contentType.length();
  }

  /**
   * Returns a JSON object, or a list where that is allowed.
   *
   * @throws ProblemException that says what is wrong without repeating the input
   */
  static Object parse(Buffer buffer, boolean many) {
    Optional<String> text = Utf8.decode(buffer.getBytes());
    if (text.isEmpty()) {
      throw malformed("The body is not UTF-8.");
    }
    try (JsonParser parser = STRICT.createParser(text.get())) {
      parser.nextToken();
      @Nullable Object body = new JsonBody(parser).value();
      boolean fits = body instanceof JsonObject || (many && body instanceof JsonArray);
      if (body != null && fits && parser.nextToken() == null) {
        return body;
      }
    } catch (IOException | NumberFormatException e) {
      // Answered below; the parser's own message would repeat the input.
    }
    throw malformed(
        "The body must be one JSON object%s: UTF-8, no member twice, at most %d levels deep."
            .formatted(many ? ", or one list of them" : "", MAX_DEPTH));
  }

  private static ProblemException malformed(String detail) {
    return Problem.of("malformed-json", 400, "Malformed JSON", detail).asException();
  }

  /** The parser bounds the depth of this recursion. */
  private @Nullable Object value() throws IOException {
    JsonToken token = parser.currentToken();
    if (token == null) {
      throw new NumberFormatException("nothing there");
    }
    return switch (token) {
      case START_OBJECT -> object();
      case START_ARRAY -> list();
      case VALUE_STRING -> Text.storable(this::at, parser.getText());
      case VALUE_NUMBER_INT -> whole();
      case VALUE_NUMBER_FLOAT -> fraction();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> null;
    };
  }

  private JsonObject object() throws IOException {
    Map<String, @Nullable Object> members = new LinkedHashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = Text.storable(this::at, parser.currentName());
      if (name.length() > MAX_NAME_LENGTH) {
        throw Shape.invalid(
            at(), "must not have a name of more than " + MAX_NAME_LENGTH + " characters");
      }
      parser.nextToken();
      path.addLast(name);
      members.put(name, value());
      path.removeLast();
    }
    return new JsonObject(members);
  }

  private JsonArray list() throws IOException {
    List<@Nullable Object> items = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      path.addLast(items.size());
      items.add(value());
      path.removeLast();
    }
    return new JsonArray(items);
  }

  /**
   * The path for a problem's text. Built only for a problem: building it for every value would cost
   * the product of two lengths that the client chooses.
   */
  private String at() {
    StringBuilder text = new StringBuilder();
    for (Object step : path) {
      if (step instanceof Integer place) {
        text.append('[').append(place.intValue()).append(']');
      } else {
        text.append(text.isEmpty() ? "" : ".").append(step);
      }
    }
    return text.toString();
  }

  /** A whole number of any size; each field's shape bounds it. */
  private Number whole() throws IOException {
    numberText();
    return parser.getNumberValue();
  }

  private double fraction() throws IOException {
    String text = numberText();
    double number = Double.parseDouble(text);
    if (Double.isInfinite(number) || (number == 0 && !isZero(text))) {
      throw Shape.invalid(at(), "must be a number in the range of a double");
    }
    if (new BigDecimal(text).stripTrailingZeros().precision() > MAX_FRACTION_DIGITS) {
      throw Shape.invalid(
          at(),
          "must have at most %d digits, or be sent as a text: as a double it would be rounded"
              .formatted(MAX_FRACTION_DIGITS));
    }
    return number;
  }

  /** Checks the length first: converting n digits takes time in proportion to n². */
  private String numberText() throws IOException {
    if (parser.getTextLength() > MAX_NUMBER_LENGTH) {
      throw Shape.invalid(at(), "must be a number of at most " + MAX_NUMBER_LENGTH + " characters");
    }
    return parser.getText();
  }

  /** Whether all digits before the exponent are 0. */
  private static boolean isZero(String number) {
    for (int i = 0; i < number.length(); i++) {
      char c = number.charAt(i);
      if (c == 'e' || c == 'E') {
        return true;
      }
      if (c >= '1' && c <= '9') {
        return false;
      }
    }
    return true;
  }
}
