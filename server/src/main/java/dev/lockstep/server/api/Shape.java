package dev.lockstep.server.api;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The form of a JSON value: checks values, and describes itself as JSON Schema for the OpenAPI
 * document. Immutable.
 */
public abstract class Shape {
  Shape() {}

  /**
   * Refuses a value of another shape.
   *
   * @param at the value's path, for the message; empty at the top
   * @throws ProblemException that names the path
   */
  public abstract void check(String at, @Nullable Object value);

  /** As JSON Schema 2020-12. */
  public abstract JsonObject schema();

  public static ObjectShape object() {
    return new ObjectShape();
  }

  /** Text within a length range. It must not be blank if at least one character is required. */
  public static Shape text(int minLength, int maxLength) {
    return new Text(minLength, maxLength);
  }

  public static Shape choice(String... values) {
    return new Choice(List.of(values));
  }

  public static Shape integer(long min, long max) {
    return new Whole(min, max);
  }

  /** Any number, with or without a fraction. */
  public static Shape number() {
    return new AnyNumber();
  }

  public static Shape bool() {
    return new Bool();
  }

  /** RFC 3339. Our own output is always UTC. */
  public static Shape time() {
    return new Time();
  }

  public static Shape list(Shape item, int min, int max) {
    return new Items(item, min, max);
  }

  public static Shape nullable(Shape shape) {
    return new OrNull(shape);
  }

  /** One of several objects, told apart by the value of one field. */
  public static Shape oneOf(String field, Map<String, ObjectShape> byValue) {
    return new OneOf(field, new TreeMap<>(byValue));
  }

  /** One of several objects, told apart by which of these fields is present. */
  public static Shape oneOfHaving(Map<String, ObjectShape> byField) {
    return new OneOfHaving(new TreeMap<>(byField));
  }

  /** One object, or a list of at most {@code max}. */
  public static Shape oneOrMany(Shape item, int max) {
    return new OneOrMany(item, max);
  }

  /** An object with any members, specified elsewhere. */
  public static Shape anything() {
    return new Anything();
  }

  /** Any JSON value. */
  public static Shape any() {
    return new Any();
  }

  static ProblemException invalid(String at, String why) {
    return Problem.invalid(at.isEmpty() ? "The body" : at, why).asException();
  }

  private static final class Text extends Shape {
    private final int min;
    private final int max;

    Text(int min, int max) {
      this.min = min;
      this.max = max;
    }

    @Override
    public void check(String at, @Nullable Object value) {
      if (!(value instanceof String text)
          || text.length() < min
          || text.length() > max
          || (min > 0 && text.isBlank())) {
        throw invalid(at, "must be a text of %d to %d characters".formatted(min, max));
      }
    }

    @Override
    public JsonObject schema() {
      return new JsonObject().put("type", "string").put("minLength", min).put("maxLength", max);
    }
  }

  private static final class Choice extends Shape {
    private final List<String> values;

    Choice(List<String> values) {
      this.values = values;
    }

    @Override
    public void check(String at, @Nullable Object value) {
      if (!(value instanceof String text) || !values.contains(text)) {
        throw invalid(at, "must be one of " + String.join(", ", values));
      }
    }

    @Override
    public JsonObject schema() {
      return new JsonObject().put("type", "string").put("enum", new JsonArray(values));
    }
  }

  private static final class Whole extends Shape {
    private final long min;
    private final long max;

    Whole(long min, long max) {
      this.min = min;
      this.max = max;
    }

    @Override
    public void check(String at, @Nullable Object value) {
      String range = "must be a whole number from %d to %d".formatted(min, max);
      if (value instanceof Double) {
        throw invalid(at, range + ", written without a fraction or an exponent");
      }
      // A larger whole number exceeds all our bounds.
      if (!(value instanceof Number number)
          || !(value instanceof Integer || value instanceof Long)
          || number.longValue() < min
          || number.longValue() > max) {
        throw invalid(at, range);
      }
    }

    @Override
    public JsonObject schema() {
      return new JsonObject().put("type", "integer").put("minimum", min).put("maximum", max);
    }
  }

  private static final class AnyNumber extends Shape {
    @Override
    public void check(String at, @Nullable Object value) {
      if (!(value instanceof Number)) {
        throw invalid(at, "must be a number");
      }
    }

    @Override
    public JsonObject schema() {
      return new JsonObject().put("type", "number");
    }
  }

  private static final class Bool extends Shape {
    @Override
    public void check(String at, @Nullable Object value) {
      if (!(value instanceof Boolean)) {
        throw invalid(at, "must be true or false");
      }
    }

    @Override
    public JsonObject schema() {
      return new JsonObject().put("type", "boolean");
    }
  }

  private static final class Time extends Shape {
    /** A year has four digits, in UTC too, so everything stored can be shown. */
    private static final int MAX_YEAR = 9_999;

    @Override
    public void check(String at, @Nullable Object value) {
      try {
        OffsetDateTime time = OffsetDateTime.parse(value instanceof String text ? text : "");
        int year = time.withOffsetSameInstant(ZoneOffset.UTC).getYear();
        if (year > 0 && year <= MAX_YEAR) {
          return;
        }
      } catch (DateTimeException e) {
        // Answered below.
      }
      throw invalid(at, "must be a time such as 2030-01-31T12:00:00Z");
    }

    @Override
    public JsonObject schema() {
      return new JsonObject().put("type", "string").put("format", "date-time");
    }
  }

  private static final class Items extends Shape {
    private final Shape item;
    private final int min;
    private final int max;

    Items(Shape item, int min, int max) {
      this.item = item;
      this.min = min;
      this.max = max;
    }

    @Override
    public void check(String at, @Nullable Object value) {
      if (!(value instanceof JsonArray array) || array.size() < min || array.size() > max) {
        throw invalid(at, "must be a list of %d to %d items".formatted(min, max));
      }
      for (int i = 0; i < array.size(); i++) {
        item.check(at + "[" + i + "]", array.getValue(i));
      }
    }

    @Override
    public JsonObject schema() {
      return new JsonObject()
          .put("type", "array")
          .put("items", item.schema())
          .put("minItems", min)
          .put("maxItems", max);
    }
  }

  private static final class OrNull extends Shape {
    private final Shape shape;

    OrNull(Shape shape) {
      this.shape = shape;
    }

    @Override
    public void check(String at, @Nullable Object value) {
      if (value != null) {
        shape.check(at, value);
      }
    }

    @Override
    public JsonObject schema() {
      JsonArray either =
          new JsonArray().add(shape.schema()).add(new JsonObject().put("type", "null"));
      return new JsonObject().put("anyOf", either);
    }
  }

  private static final class OneOf extends Shape {
    private final String field;
    private final Map<String, ObjectShape> byValue;

    OneOf(String field, Map<String, ObjectShape> byValue) {
      this.field = field;
      this.byValue = byValue;
    }

    @Override
    public void check(String at, @Nullable Object value) {
      Object kind = value instanceof JsonObject object ? object.getValue(field) : null;
      ObjectShape shape = kind instanceof String text ? byValue.get(text) : null;
      if (shape == null) {
        throw invalid(
            ObjectShape.member(at, field), "must be one of " + String.join(", ", byValue.keySet()));
      }
      shape.check(at, value);
    }

    @Override
    public JsonObject schema() {
      JsonArray shapes = new JsonArray();
      byValue.forEach(
          (value, shape) -> {
            JsonObject schema = shape.schema();
            schema.getJsonObject("properties").put(field, choice(value).schema());
            shapes.add(schema);
          });
      return new JsonObject().put("oneOf", shapes);
    }
  }

  private static final class OneOfHaving extends Shape {
    private final Map<String, ObjectShape> byField;

    OneOfHaving(Map<String, ObjectShape> byField) {
      this.byField = byField;
    }

    @Override
    public void check(String at, @Nullable Object value) {
      if (value instanceof JsonObject object) {
        List<Map.Entry<String, ObjectShape>> there =
            byField.entrySet().stream().filter(one -> object.containsKey(one.getKey())).toList();
        if (there.size() == 1) {
          there.get(0).getValue().check(at, value);
          return;
        }
      }
      throw invalid(at, "must have exactly one of " + String.join(", ", byField.keySet()));
    }

    @Override
    public JsonObject schema() {
      JsonArray shapes = new JsonArray();
      byField.values().forEach(shape -> shapes.add(shape.schema()));
      return new JsonObject().put("oneOf", shapes);
    }
  }

  private static final class OneOrMany extends Shape {
    private final Shape item;
    private final Shape list;

    OneOrMany(Shape item, int max) {
      this.item = item;
      this.list = list(item, 1, max);
    }

    @Override
    public void check(String at, @Nullable Object value) {
      (value instanceof JsonArray ? list : item).check(at, value);
    }

    @Override
    public JsonObject schema() {
      return new JsonObject().put("oneOf", new JsonArray().add(item.schema()).add(list.schema()));
    }
  }

  private static final class Any extends Shape {
    @Override
    public void check(String at, @Nullable Object value) {
      // Correct.
    }

    @Override
    public JsonObject schema() {
      return new JsonObject();
    }
  }

  private static final class Anything extends Shape {
    @Override
    public void check(String at, @Nullable Object value) {
      if (!(value instanceof JsonObject)) {
        throw invalid(at, "must be an object");
      }
    }

    @Override
    public JsonObject schema() {
      return new JsonObject().put("type", "object");
    }
  }
}
