package dev.lockstep.sql;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** A constant of an enum that a table stores as a number. */
public interface StoredEnum {
  /** The stored number. */
  short code();

  /** The name of the constant. */
  String name();

  /**
   * Replaces the constants in a statement by their numbers: {@code state = {HoldState.HELD}}
   * becomes {@code state = 0}. With a literal, unlike a parameter, the planner can use a partial
   * index.
   *
   * @param enums whose constants the statement may name
   * @throws IllegalArgumentException if it names a constant that none of them has
   */
  @SafeVarargs
  static String sql(String statement, Class<? extends StoredEnum>... enums) {
    Map<String, String> numbers = new HashMap<>();
    for (Class<? extends StoredEnum> type : enums) {
      for (StoredEnum one : Objects.requireNonNull(type.getEnumConstants(), "not an enum")) {
        numbers.put(type.getSimpleName() + "." + one.name(), Short.toString(one.code()));
      }
    }
    return StoredEnumSql.withNumbers(statement, numbers);
  }
}
