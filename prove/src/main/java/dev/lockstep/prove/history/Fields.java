package dev.lockstep.prove.history;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Named texts, in order; one line when they travel. Immutable. */
public record Fields(Map<String, String> values) {
  public static final Fields NONE = new Fields(Map.of());

  public Fields {
    values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
  }

  /** Names and values in turn. */
  public static Fields of(Object... namesAndValues) {
    Map<String, String> all = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      all.put(namesAndValues[i].toString(), namesAndValues[i + 1].toString());
    }
    return new Fields(all);
  }

  public Fields with(String name, Object value) {
    Map<String, String> all = new LinkedHashMap<>(values);
    all.put(name, value.toString());
    return new Fields(all);
  }

  public boolean has(String name) {
    return values.containsKey(name);
  }

  /**
   * The value.
   *
   * @throws IllegalArgumentException if there is none
   */
  public String text(String name) {
    String value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException("No field " + name + " in " + values);
    }
    return value;
  }

  public String text(String name, String otherwise) {
    return values.getOrDefault(name, otherwise);
  }

  public long number(String name) {
    return Long.parseLong(text(name));
  }

  public long number(String name, long otherwise) {
    return has(name) ? number(name) : otherwise;
  }

  public boolean flag(String name) {
    return "true".equals(values.get(name));
  }

  /** Comma-separated numbers; none if absent or empty. */
  public List<Long> numbers(String name) {
    List<Long> all = new ArrayList<>();
    for (String part : parts(name, ",")) {
      all.add(Long.parseLong(part));
    }
    return all;
  }

  /** The value's parts; none if absent or empty. */
  public List<String> parts(String name, String separator) {
    String value = text(name, "");
    return value.isEmpty() ? List.of() : List.of(value.split(separator, -1));
  }

  /** Encodes them as one line without spaces; {@link #parse} reads it. */
  public String line() {
    StringBuilder line = new StringBuilder();
    values.forEach(
        (name, value) -> {
          if (line.length() > 0) {
            line.append('&');
          }
          line.append(name).append('=').append(URLEncoder.encode(value, StandardCharsets.UTF_8));
        });
    return line.length() == 0 ? "-" : line.toString();
  }

  public static Fields parse(String line) {
    if (line.equals("-")) {
      return NONE;
    }
    Map<String, String> all = new LinkedHashMap<>();
    for (String pair : line.split("&", -1)) {
      int equals = pair.indexOf('=');
      all.put(
          pair.substring(0, equals),
          URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
    }
    return new Fields(all);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    values.forEach((name, value) -> text.append(' ').append(name).append('=').append(value));
    return text.toString().strip();
  }
}
