package dev.lockstep.server;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Checks a value against the part of JSON Schema that our document uses. Independent of the code
 * that wrote the document, so that a mistake there shows.
 */
final class SchemaCheck {
  private SchemaCheck() {}

  /** What is wrong, as sentences; empty: nothing. */
  static List<String> errors(String at, JsonObject schema, @Nullable Object value) {
    for (String word : List.of("anyOf", "oneOf")) {
      if (schema.containsKey(word)) {
        return oneOf(at, schema.getJsonArray(word), value);
      }
    }
    if (schema.isEmpty()) {
      return List.of();
    }
    return switch (schema.getString("type")) {
      case "object" ->
          value instanceof JsonObject object
              ? object(at, schema, object)
              : wrong(at, schema, value);
      case "array" ->
          value instanceof JsonArray array ? array(at, schema, array) : wrong(at, schema, value);
      case "string" -> value instanceof String ? List.of() : wrong(at, schema, value);
      case "integer" ->
          value instanceof Integer || value instanceof Long ? List.of() : wrong(at, schema, value);
      case "boolean" -> value instanceof Boolean ? List.of() : wrong(at, schema, value);
      case "null" -> value == null ? List.of() : wrong(at, schema, value);
      default -> List.of(at + ": the schema has an unknown type: " + schema);
    };
  }

  private static List<String> oneOf(String at, JsonArray schemas, @Nullable Object value) {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < schemas.size(); i++) {
      List<String> errors = errors(at, schemas.getJsonObject(i), value);
      if (errors.isEmpty()) {
        return errors;
      }
      all.addAll(errors);
    }
    return all;
  }

  private static List<String> object(String at, JsonObject schema, JsonObject value) {
    List<String> errors = new ArrayList<>();
    JsonObject properties = schema.getJsonObject("properties");
    if (properties == null) {
      return errors;
    }
    for (Object name : schema.getJsonArray("required")) {
      if (!value.containsKey((String) name)) {
        errors.add(at + " lacks " + name);
      }
    }
    for (String name : value.fieldNames()) {
      if (properties.containsKey(name)) {
        errors.addAll(
            errors(at + "." + name, properties.getJsonObject(name), value.getValue(name)));
      } else {
        errors.add(at + " has " + name + ", which is not documented");
      }
    }
    return errors;
  }

  private static List<String> array(String at, JsonObject schema, JsonArray value) {
    List<String> errors = new ArrayList<>();
    for (int i = 0; i < value.size(); i++) {
      errors.addAll(errors(at + "[" + i + "]", schema.getJsonObject("items"), value.getValue(i)));
    }
    return errors;
  }

  private static List<String> wrong(String at, JsonObject schema, @Nullable Object value) {
    return List.of(at + " is " + value + " and not of type " + schema.getString("type"));
  }
}
