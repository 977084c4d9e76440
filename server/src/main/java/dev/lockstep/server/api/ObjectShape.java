package dev.lockstep.server.api;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An object with named members only: unknown members are refused, not ignored. */
public final class ObjectShape extends Shape {
  private record Member(Shape shape, boolean required) {}

  private final Map<String, Member> members;

  ObjectShape() {
    this.members = Map.of();
  }

  private ObjectShape(ObjectShape before, String name, Member member) {
    this.members = new LinkedHashMap<>(before.members);
    this.members.put(name, member);
  }

  public ObjectShape required(String name, Shape shape) {
    return new ObjectShape(this, name, new Member(shape, true));
  }

  public ObjectShape optional(String name, Shape shape) {
    return new ObjectShape(this, name, new Member(shape, false));
  }

  @Override
  public void check(String at, @Nullable Object value) {
    if (!(value instanceof JsonObject object)) {
      throw invalid(at, "must be an object");
    }
    for (String name : object.fieldNames()) {
      if (!members.containsKey(name)) {
        String field = member(at, name);
        throw Problem.of("unknown-field", 400, "Unknown field", "There is no field " + field + ".")
            .with("field", field)
            .asException();
      }
    }
    members.forEach(
        (name, member) -> {
          if (object.containsKey(name)) {
            member.shape().check(member(at, name), object.getValue(name));
          } else if (member.required()) {
            throw invalid(member(at, name), "is missing");
          }
        });
  }

  @Override
  public JsonObject schema() {
    JsonObject properties = new JsonObject();
    JsonArray required = new JsonArray();
    members.forEach(
        (name, member) -> {
          properties.put(name, member.shape().schema());
          if (member.required()) {
            required.add(name);
          }
        });
    return new JsonObject()
        .put("type", "object")
        .put("properties", properties)
        .put("required", required)
        .put("additionalProperties", false);
  }

  static String member(String at, String name) {
    return at.isEmpty() ? name : at + "." + name;
  }
}
