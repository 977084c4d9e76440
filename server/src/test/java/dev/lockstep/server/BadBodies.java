package dev.lockstep.server;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Bodies that a JSON Schema refuses, made from the schema: each is a body that it accepts with one
 * thing wrong.
 */
final class BadBodies {
  /** Stand for what can not be written as a Java string of a JSON library: see {@link #raw}. */
  private static final Map<String, String> ESCAPES =
      Map.of("@NUL@", "\\u0000", "@HIGH@", "\\ud800", "@LOW@", "\\udc00");

  /** Stand for numbers that a JSON library would not write. */
  private static final Map<String, String> NUMBERS =
      Map.of(
          "@HUGE@",
          "1e400",
          "@TINY@",
          "1e-400",
          "@EXPONENT@",
          "1e0",
          "@LONG@",
          "9".repeat(1_000),
          "@ROUNDED@",
          "0.333333333333333333");

  private static final int LONGEST = 20_000;
  private static final int MOST_ITEMS = 1_100;

  private BadBodies() {}

  /** What is wrong with it, where, and the JSON. */
  record Bad(String what, String field, String json) {
    boolean badText() {
      return what.startsWith("text");
    }

    boolean badNumber() {
      return what.startsWith("number");
    }
  }

  /** A value within a body: where it is, what it has to be, whether it may be left out or null. */
  private record Place(List<Object> path, JsonObject schema, boolean required, boolean nullable) {
    /** As a problem names it. */
    String field() {
      StringBuilder text = new StringBuilder();
      for (Object step : path) {
        text.append(
            step instanceof Integer ? "[" + step + "]" : text.isEmpty() ? step : "." + step);
      }
      return text.toString();
    }

    boolean isMember() {
      return !path.isEmpty() && path.get(path.size() - 1) instanceof String;
    }
  }

  /** A body that is of the schema, and the values in it. */
  private record Variant(@Nullable Object sample, List<Place> places) {}

  /** One body for each form that the schema allows. */
  static List<String> good(JsonObject schema) {
    return variants(schema, List.of(), true, false).stream()
        .map(variant -> raw(variant.sample()))
        .toList();
  }

  static List<Bad> of(JsonObject schema) {
    Map<String, Bad> all = new LinkedHashMap<>();
    for (Variant variant : variants(schema, List.of(), true, false)) {
      for (Place place : variant.places()) {
        for (Map.Entry<String, Object> wrong : wrong(place.schema()).entrySet()) {
          add(all, place, wrong.getKey(), with(variant.sample(), place.path(), wrong.getValue()));
        }
        if (!place.nullable() && !place.schema().isEmpty()) {
          add(all, place, "null", with(variant.sample(), place.path(), null));
        }
        if (place.required() && place.isMember()) {
          add(all, place, "missing", without(variant.sample(), place.path()));
        }
      }
    }
    return List.copyOf(all.values());
  }

  private static void add(Map<String, Bad> all, Place place, String what, @Nullable Object body) {
    String json = raw(body);
    all.put(json, new Bad(what + " at " + place.path(), place.field(), json));
  }

  private static String raw(@Nullable Object body) {
    String json = body == null ? "null" : io.vertx.core.json.Json.encode(body);
    for (Map.Entry<String, String> escape : ESCAPES.entrySet()) {
      json = json.replace(escape.getKey(), escape.getValue());
    }
    for (Map.Entry<String, String> number : NUMBERS.entrySet()) {
      json = json.replace('"' + number.getKey() + '"', number.getValue());
    }
    return json;
  }

  private static Map<String, Object> wrong(JsonObject schema) {
    Map<String, Object> wrong = new LinkedHashMap<>();
    String type = schema.getString("type", "any");
    if (!type.equals("integer") && !type.equals("number") && !type.equals("boolean")) {
      wrong.put("text with NUL", "a@NUL@b");
      wrong.put("text with half a character", "a@HIGH@b");
      wrong.put("text with the other half", "@LOW@");
      wrong.put("text in a member's name", new JsonObject().put("a@NUL@b", 1));
      wrong.put("text deep within", new JsonObject().put("a", new JsonArray().add("@HIGH@")));
    }
    switch (type) {
      case "string" -> strings(schema, wrong);
      case "integer" -> integers(schema, wrong);
      case "number" -> wrong.put("a text", "7");
      case "boolean" -> {
        wrong.put("a text", "true");
        wrong.put("a number", 1);
      }
      case "array" -> arrays(schema, wrong);
      case "object" -> {
        wrong.put("a list", new JsonArray());
        wrong.put("a text", "{}");
        wrong.put("a number", 7);
        if (Boolean.FALSE.equals(schema.getValue("additionalProperties"))) {
          JsonObject more =
              (JsonObject)
                  Objects.requireNonNull(variants(schema, List.of(), true, false).get(0).sample());
          wrong.put("an unknown member", more.copy().put("nosuchfield", 1));
        }
      }
      default -> numbers(wrong);
    }
    return wrong;
  }

  private static void strings(JsonObject schema, Map<String, Object> wrong) {
    wrong.put("a number", 7);
    wrong.put("a truth", true);
    wrong.put("an object", new JsonObject());
    wrong.put("a list", new JsonArray());
    if (schema.containsKey("enum") || schema.containsKey("format")) {
      wrong.put("another text", "no such value");
    }
    if (schema.containsKey("format")) {
      wrong.put("a year too late", "+10000-01-01T00:00:00Z");
      wrong.put("a year too late in UTC", "9999-12-31T23:59:59-18:00");
      wrong.put("no such year", "+999999999-12-31T23:59:59Z");
      wrong.put("a year too early", "-0001-01-01T00:00:00Z");
    }
    if (schema.getInteger("minLength", 0) > 0) {
      wrong.put("too short", "");
    }
    int most = schema.getInteger("maxLength", LONGEST);
    if (most < LONGEST) {
      wrong.put("too long", "x".repeat(most + 1));
    }
  }

  private static void integers(JsonObject schema, Map<String, Object> wrong) {
    wrong.put("a text", "7");
    wrong.put("a truth", true);
    wrong.put("a list", new JsonArray());
    numbers(wrong);
    wrong.put("number with a fraction", 1.5);
    wrong.put("number with a fraction of zero", 1.0);
    wrong.put("number with an exponent", "@EXPONENT@");
    BigInteger one = BigInteger.ONE;
    wrong.put(
        "number below the least", BigInteger.valueOf(schema.getLong("minimum")).subtract(one));
    wrong.put("number above the most", BigInteger.valueOf(schema.getLong("maximum")).add(one));
  }

  /** Wrong in every field. */
  private static void numbers(Map<String, Object> wrong) {
    wrong.put("number too large", "@HUGE@");
    wrong.put("number too small", "@TINY@");
    wrong.put("number too long", "@LONG@");
    wrong.put("number that would be rounded", "@ROUNDED@");
  }

  private static void arrays(JsonObject schema, Map<String, Object> wrong) {
    wrong.put("an object", new JsonObject());
    wrong.put("a text", "[]");
    wrong.put("a number", 7);
    if (schema.getInteger("minItems") > 0) {
      wrong.put("too few", new JsonArray());
    }
    if (schema.getInteger("maxItems") < MOST_ITEMS) {
      Object item = variants(schema.getJsonObject("items"), List.of(), true, false).get(0).sample();
      JsonArray many = new JsonArray();
      for (int i = 0; i <= schema.getInteger("maxItems"); i++) {
        many.add(item);
      }
      wrong.put("too many", many);
    }
  }

  private static List<Variant> variants(
      JsonObject schema, List<Object> path, boolean required, boolean nullable) {
    if (schema.containsKey("anyOf")) {
      return variants(schema.getJsonArray("anyOf").getJsonObject(0), path, required, true);
    }
    if (schema.containsKey("oneOf")) {
      List<Variant> all = new ArrayList<>();
      JsonArray forms = schema.getJsonArray("oneOf");
      for (int i = 0; i < forms.size(); i++) {
        all.addAll(variants(forms.getJsonObject(i), path, required, nullable));
      }
      return all;
    }
    Place self = new Place(path, schema, required, nullable);
    return switch (schema.getString("type", "any")) {
      case "object" -> objects(schema, path, self);
      case "array" ->
          variants(schema.getJsonObject("items"), with(path, 0), true, false).stream()
              .map(item -> new Variant(list(schema, item.sample()), plus(self, item)))
              .toList();
      default -> List.of(new Variant(sample(schema), List.of(self)));
    };
  }

  /** As many of this item as the schema asks for, one at least. */
  private static JsonArray list(JsonObject schema, @Nullable Object item) {
    JsonArray list = new JsonArray().add(item);
    while (list.size() < schema.getInteger("minItems", 1)) {
      list.add(item);
    }
    return list;
  }

  /** As many as the member with the most forms has; others repeat their last. */
  private static List<Variant> objects(JsonObject schema, List<Object> path, Place self) {
    JsonObject properties = schema.getJsonObject("properties", new JsonObject());
    JsonArray required = schema.getJsonArray("required", new JsonArray());
    Map<String, List<Variant>> members = new LinkedHashMap<>();
    for (String name : properties.fieldNames()) {
      JsonObject member = properties.getJsonObject(name);
      members.put(name, variants(member, with(path, name), required.contains(name), false));
    }
    int most = members.values().stream().mapToInt(List::size).max().orElse(1);
    List<Variant> all = new ArrayList<>();
    for (int i = 0; i < most; i++) {
      JsonObject sample = new JsonObject();
      List<Place> places = new ArrayList<>(List.of(self));
      for (Map.Entry<String, List<Variant>> member : members.entrySet()) {
        Variant one = member.getValue().get(Math.min(i, member.getValue().size() - 1));
        sample.put(member.getKey(), one.sample());
        places.addAll(one.places());
      }
      all.add(new Variant(sample, places));
    }
    return all;
  }

  private static Object sample(JsonObject schema) {
    if (schema.containsKey("enum")) {
      return schema.getJsonArray("enum").getString(0);
    }
    if (schema.containsKey("format")) {
      return "2031-02-03T04:05:06Z";
    }
    return switch (schema.getString("type", "any")) {
      case "string" -> "x".repeat(Math.max(1, schema.getInteger("minLength", 1)));
      case "integer" -> Math.max(schema.getLong("minimum"), Math.min(1, schema.getLong("maximum")));
      case "number" -> 1.5;
      case "boolean" -> true;
      default -> new JsonObject().put("free", 1);
    };
  }

  private static List<Object> with(List<Object> path, Object step) {
    List<Object> longer = new ArrayList<>(path);
    longer.add(step);
    return List.copyOf(longer);
  }

  private static List<Place> plus(Place self, Variant inner) {
    List<Place> all = new ArrayList<>(List.of(self));
    all.addAll(inner.places());
    return all;
  }

  private static @Nullable Object with(
      @Nullable Object body, List<Object> path, @Nullable Object value) {
    if (path.isEmpty()) {
      return value;
    }
    List<Object> rest = path.subList(1, path.size());
    if (body instanceof JsonObject object) {
      String name = (String) path.get(0);
      return object.copy().put(name, with(object.getValue(name), rest, value));
    }
    JsonArray copy = ((JsonArray) Objects.requireNonNull(body)).copy();
    copy.set((int) path.get(0), with(copy.getValue((int) path.get(0)), rest, value));
    return copy;
  }

  private static @Nullable Object without(@Nullable Object body, List<Object> path) {
    List<Object> rest = path.subList(1, path.size());
    if (body instanceof JsonObject object) {
      JsonObject copy = object.copy();
      String name = (String) path.get(0);
      if (rest.isEmpty()) {
        copy.remove(name);
      } else {
        copy.put(name, without(object.getValue(name), rest));
      }
      return copy;
    }
    JsonArray copy = ((JsonArray) Objects.requireNonNull(body)).copy();
    if (!rest.isEmpty()) {
      copy.set((int) path.get(0), without(copy.getValue((int) path.get(0)), rest));
    }
    return copy;
  }
}
