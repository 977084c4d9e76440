package dev.lockstep.server.api;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The query string. Unknown parameters are refused: a misspelt filter would otherwise return
 * everything.
 */
final class Query {
  private final Map<String, String> values;

  private Query(Map<String, String> values) {
    this.values = values;
  }

  /**
   * @param raw as received, percent-encoded
   * @param known the parameters of the operation
   * @throws ProblemException when one is unknown, repeated or not UTF-8
   */
  static Query of(@Nullable String raw, Set<String> known) {
    Map<String, String> values = new LinkedHashMap<>();
    if (raw != null) {
      for (String part : raw.split("&", -1)) {
        if (!part.isEmpty()) {
          int equals = part.indexOf('=');
          String name = decoded(equals < 0 ? part : part.substring(0, equals));
          String value = equals < 0 ? "" : decoded(part.substring(equals + 1));
          Text.storable(Text.storable("A parameter's name", name), value);
          require(name, known, values);
          values.put(name, value);
        }
      }
    }
    return new Query(values);
  }

  SortedMap<String, String> byName() {
    return new TreeMap<>(values);
  }

  Optional<String> get(String name) {
    return Optional.ofNullable(values.get(name));
  }

  private static void require(String name, Set<String> known, Map<String, String> before) {
    if (!known.contains(name)) {
      String offered =
          known.isEmpty()
              ? "This operation takes none."
              : "Known are " + String.join(", ", new TreeSet<>(known)) + ".";
      throw Problem.of(
              "unknown-parameter",
              400,
              "Unknown parameter",
              "There is no parameter " + name + " here. " + offered)
          .with("parameter", name)
          .asException();
    }
    if (before.containsKey(name)) {
      throw Problem.of(
              "repeated-parameter",
              400,
              "Repeated parameter",
              "The parameter " + name + " occurs twice.")
          .with("parameter", name)
          .asException();
    }
  }

  private static String decoded(String part) {
    return Utf8.decodeUrl(part, true)
        .orElseThrow(
            () -> Problem.badRequest("The query is not percent-encoded UTF-8.").asException());
  }
}
