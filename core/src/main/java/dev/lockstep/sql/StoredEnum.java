package dev.lockstep.sql;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** A constant of an enum that a table stores as a number. */
public interface StoredEnum {
  /** As stored. */
  short code();

  /** As an enum has it. */
  String name();

  /**
   * A statement with the numbers of the constants it names: {@code state = {HoldState.HELD}}
   * becomes {@code state = 0}. A number and no parameter, so that the planner can use an index on
   * just those rows.
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
