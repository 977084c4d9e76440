package dev.lockstep.sql;

import java.util.Map;
import java.util.regex.Pattern;

/** Puts the numbers of constants into statements. See {@link StoredEnum#sql}. */
final class StoredEnumSql {
  private static final Pattern CONSTANT = Pattern.compile("\\{([A-Z]\\w*\\.[A-Z_]+)}");

  private StoredEnumSql() {}

  static String withNumbers(String statement, Map<String, String> numbers) {
    return CONSTANT
        .matcher(statement)
        .replaceAll(
            found -> {
              String number = numbers.get(found.group(1));
              if (number == null) {
                throw new IllegalArgumentException("No constant " + found.group(1));
              }
              return number;
            });
  }
}
