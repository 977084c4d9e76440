package dev.lockstep.hold;

import dev.lockstep.hold.StockViolation.StockInvariant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a hand on the tables of a {@link Shop} can break, and what an operator is then to be told,
 * by pool and check. A detail's {@code *} stands for a unit that the shuffle chose.
 */
enum Corruption {
  HELD_COUNTER_TOO_HIGH(
      "UPDATE pool SET held = held + 1 WHERE scope = 1 AND pool = 1",
      Map.of(
          "1 AUDIT_END", "the pool counts 4 held and 2 sold, the newest audit row says 3 and 2",
          "1 HOLDS", "the pool counts 4 held and 2 sold, live holds have 3 and 2")),
  HELD_COUNTER_TOO_LOW(
      "UPDATE pool SET held = held - 1 WHERE scope = 1 AND pool = 1",
      Map.of(
          "1 AUDIT_END", "the pool counts 2 held and 2 sold, the newest audit row says 3 and 2",
          "1 HOLDS", "the pool counts 2 held and 2 sold, live holds have 3 and 2")),
  SOLD_COUNTER_TOO_HIGH(
      "UPDATE pool SET sold = sold + 1 WHERE scope = 1 AND pool = 1",
      Map.of(
          "1 AUDIT_END", "the pool counts 3 held and 3 sold, the newest audit row says 3 and 2",
          "1 HOLDS", "the pool counts 3 held and 3 sold, live holds have 3 and 2")),
  COUNTER_OF_A_POOL_WITH_UNITS(
      "UPDATE pool SET held = held + 1 WHERE scope = 1 AND pool = 2",
      Map.of(
          "2 AUDIT_END", "the pool counts 3 held and 1 sold, the newest audit row says 2 and 1",
          "2 HOLDS", "the pool counts 3 held and 1 sold, live holds have 2 and 1",
          "2 UNITS", "3 units have an owner, the pool counts 4")),
  COUNTER_OF_A_POOL_NOBODY_TOUCHED(
      "UPDATE pool SET sold = 1 WHERE scope = 1 AND pool = 3",
      Map.of(
          "3 AUDIT_END", "the pool counts 0 held and 1 sold, the newest audit row says 0 and 0",
          "3 HOLDS", "the pool counts 0 held and 1 sold, live holds have 0 and 0")),
  TOTAL_OF_A_POOL_WITH_UNITS(
      "UPDATE pool SET total = 21 WHERE scope = 1 AND pool = 2",
      Map.of(
          "2 UNITS", "20 units instead of 21",
          "2 TOTAL", "the pool has a total of 21, its audit accounts for 20")),
  TOTAL_OF_A_COUNTED_POOL_TOO_HIGH(
      "UPDATE pool SET total = 25 WHERE scope = 1 AND pool = 1",
      Map.of("1 TOTAL", "the pool has a total of 25, its audit accounts for 20")),
  TOTAL_OF_A_COUNTED_POOL_TOO_LOW(
      "UPDATE pool SET total = 5 WHERE scope = 1 AND pool = 1",
      Map.of("1 TOTAL", "the pool has a total of 5, its audit accounts for 20")),
  OPENING_ROW_DELETED(
      "DELETE FROM stock_audit WHERE scope = 1 AND pool = 1 AND seq = 0",
      Map.of("1 TOTAL", "the pool has a total of 20, its audit accounts for 0")),
  OPENING_ROW_ALTERED(
      "UPDATE stock_audit SET total_after = 30 WHERE scope = 1 AND pool = 1 AND seq = 0",
      Map.of("1 TOTAL", "the pool has a total of 20, its audit accounts for 30")),
  SHUFFLE_MOVED_PAST_FREE_UNITS(
      "UPDATE pool SET next_rank = 6 WHERE scope = 1 AND pool = 2",
      Map.of("2 UNITS", "2 free units can never be given out, the first is unit *")),
  SEQUENCE_OF_A_POOL(
      "UPDATE pool SET audit_seq = 4 WHERE scope = 1 AND pool = 1",
      Map.of(
          "1 AUDIT_CHAIN", "5 audit rows after row 0, where the pool counts 4",
          "1 AUDIT_END", "the pool counts 3 held and 2 sold, the newest audit row says 4 and 2")),

  UNIT_WITHOUT_ITS_OWNER(
      "UPDATE unit SET hold = NULL WHERE scope = 1 AND unit = " + unitOf('a'),
      Map.of("2 UNITS", "2 units have an owner, the pool counts 3")),
  UNIT_WITH_A_FOREIGN_OWNER(
      "UPDATE unit SET hold = " + id('b') + " WHERE scope = 1 AND unit = " + unitOf('a'),
      Map.of(
          "2 UNITS",
          "1 units have an owner that is not a live hold listing them, the first is unit *")),
  UNIT_WITH_AN_UNKNOWN_OWNER(
      "UPDATE unit SET hold = gen_random_uuid() WHERE scope = 1 AND unit = " + unitOf('a'),
      Map.of(
          "2 UNITS",
          "1 units have an owner that is not a live hold listing them, the first is unit *")),
  UNIT_GIVEN_TO_AN_ENDED_HOLD(
      "UPDATE unit SET hold = " + id('c') + " WHERE scope = 1 AND unit = " + unitOf('b'),
      Map.of(
          "2 UNITS",
          "1 units have an owner that is not a live hold listing them, the first is unit *")),
  FREE_UNIT_GIVEN_TO_AN_ENDED_HOLD(
      "UPDATE unit SET returned = false, hold = " + id('c') + " WHERE scope = 1 AND returned",
      Map.of(
          "2 UNITS",
          "1 units have an owner that is not a live hold listing them, the first is unit *")),
  UNITS_SWAPPED_BETWEEN_TWO_HOLDS(
      """
      UPDATE unit SET hold = CASE hold WHEN %1$s THEN %2$s ELSE %1$s END
      WHERE scope = 1 AND unit IN (%3$s, %4$s)"""
          .formatted(id('a'), id('b'), unitOf('a'), unitOf('b')),
      Map.of(
          "2 UNITS",
          "2 units have an owner that is not a live hold listing them, the first is unit *")),
  UNIT_DELETED(
      "DELETE FROM unit WHERE scope = 1 AND rank = 19",
      Map.of("2 UNITS", "19 units instead of 20")),
  UNIT_IN_A_COUNTED_POOL(
      "INSERT INTO unit VALUES (1, 1, 0, 0)", Map.of("1 UNITS", "1 units instead of 0")),

  AUDIT_ROW_ALTERED_AT_ITS_END(
      "UPDATE stock_audit SET held_after = held_after + 1 WHERE scope = 1 AND pool = 1 AND seq = 2",
      Map.of("1 AUDIT_CHAIN", "audit row 3 does not begin where the one before it ended")),
  AUDIT_ROW_ALTERED_AT_ITS_BEGINNING(
      "UPDATE stock_audit SET sold_before = 1 WHERE scope = 1 AND pool = 1 AND seq = 2",
      Map.of("1 AUDIT_CHAIN", "audit row 2 does not begin where the one before it ended")),
  FIRST_AUDIT_ROW_ALTERED(
      "UPDATE stock_audit SET held_before = 1 WHERE scope = 1 AND pool = 1 AND seq = 1",
      Map.of("1 AUDIT_CHAIN", "audit row 1 does not begin where the one before it ended")),
  NEWEST_AUDIT_ROW_ALTERED(
      "UPDATE stock_audit SET held_after = 4 WHERE scope = 1 AND pool = 1 AND seq = 5",
      Map.of(
          "1 AUDIT_END", "the pool counts 3 held and 2 sold, the newest audit row says 4 and 2")),
  AUDIT_ROW_DELETED_IN_THE_MIDDLE(
      "DELETE FROM stock_audit WHERE scope = 1 AND pool = 1 AND seq = 3",
      Map.of("1 AUDIT_CHAIN", "audit row 4 does not begin where the one before it ended")),
  FIRST_AUDIT_ROW_DELETED(
      "DELETE FROM stock_audit WHERE scope = 1 AND pool = 1 AND seq = 1",
      Map.of("1 AUDIT_CHAIN", "audit row 2 does not begin where the one before it ended")),
  NEWEST_AUDIT_ROW_DELETED(
      "DELETE FROM stock_audit WHERE scope = 1 AND pool = 1 AND seq = 5",
      Map.of(
          "1 AUDIT_CHAIN", "4 audit rows after row 0, where the pool counts 5",
          "1 AUDIT_END", "audit row 5, the newest, is missing")),
  AUDIT_ROW_ADDED(
      """
      INSERT INTO stock_audit
      SELECT scope, pool, 6, hold, cause, actor, held_after, held_after, sold_after, sold_after, at
      FROM stock_audit WHERE scope = 1 AND pool = 1 AND seq = 5""",
      Map.of("1 AUDIT_CHAIN", "6 audit rows after row 0, where the pool counts 5")),

  HELD_HOLD_CALLED_RELEASED(
      "UPDATE hold SET state = 2, ended_at = now() WHERE scope = 1 AND hold = " + id('a'),
      Map.of(
          "1 HOLDS",
          "the pool counts 3 held and 2 sold, live holds have 0 and 2",
          "2 HOLDS",
          "the pool counts 2 held and 1 sold, live holds have 0 and 1",
          "2 UNITS",
          "2 units have an owner that is not a live hold listing them, the first is unit *")),
  HELD_HOLD_CALLED_SOLD(
      "UPDATE hold SET state = 1, ended_at = now() WHERE scope = 1 AND hold = " + id('a'),
      Map.of(
          "1 HOLDS", "the pool counts 3 held and 2 sold, live holds have 0 and 5",
          "2 HOLDS", "the pool counts 2 held and 1 sold, live holds have 0 and 3")),
  RELEASED_HOLD_CALLED_HELD(
      "UPDATE hold SET state = 0, ended_at = NULL WHERE scope = 1 AND hold = " + id('c'),
      Map.of(
          "1 HOLDS", "the pool counts 3 held and 2 sold, live holds have 4 and 2",
          "2 HOLDS", "the pool counts 2 held and 1 sold, live holds have 3 and 1",
          "2 UNITS", "live holds list 4 units, the pool counts 3")),
  HOLD_DELETED(
      "DELETE FROM hold WHERE scope = 1 AND hold = " + id('b'),
      Map.of(
          "1 HOLDS",
          "the pool counts 3 held and 2 sold, live holds have 3 and 0",
          "2 HOLDS",
          "the pool counts 2 held and 1 sold, live holds have 2 and 0",
          "2 UNITS",
          "1 units have an owner that is not a live hold listing them, the first is unit *")),
  QUANTITY_OF_A_HOLD(
      "UPDATE hold SET quantities[1] = 4 WHERE scope = 1 AND hold = " + id('a'),
      Map.of("1 HOLDS", "the pool counts 3 held and 2 sold, live holds have 4 and 2")),
  MORE_HELD_THAN_THERE_IS(
      "UPDATE hold SET quantities[1] = 1000 WHERE scope = 1 AND hold = " + id('a'),
      Map.of(
          "1 HOLDS", "the pool counts 3 held and 2 sold, live holds have 1000 and 2",
          "1 OVERSOLD", "live holds have 1002 of 20")),
  UNIT_ADDED_TO_THE_LIST_OF_A_HOLD(
      """
      UPDATE hold SET unit_pools = unit_pools || 2::bigint,
        units = units || (SELECT unit FROM unit WHERE scope = 1 AND pool = 2 AND rank = 19)
      WHERE scope = 1 AND hold = """
          + id('a'),
      Map.of("2 UNITS", "live holds list 4 units, the pool counts 3")),

  QUOTA_TOO_HIGH(
      "UPDATE quota SET used = used + 1 WHERE scope = 2 AND buyer = 'alice'",
      everywhere("the quota of buyer alice counts 6, live holds have 5")),
  QUOTA_TOO_LOW(
      "UPDATE quota SET used = 0 WHERE scope = 2 AND buyer = 'bob'",
      everywhere("the quota of buyer bob counts 0, live holds have 3")),
  QUOTA_OF_SOMEBODY_WHO_HAS_NOTHING(
      "UPDATE quota SET used = 2 WHERE scope = 2 AND buyer = 'carol'",
      everywhere("the quota of buyer carol counts 2, live holds have 0")),
  QUOTA_DELETED(
      "DELETE FROM quota WHERE scope = 2 AND buyer = 'alice'",
      everywhere("the quota of buyer alice counts 0, live holds have 5"));

  private final String sql;

  @SuppressWarnings("ImmutableEnumChecker") // Made by Map.of.
  private final Map<String, String> details;

  Corruption(String sql, Map<String, String> details) {
    this.sql = sql;
    this.details = details;
  }

  /** To be run with Lockstep's tables in the search path. */
  String sql() {
    return "SET LOCAL search_path = lockstep; " + sql;
  }

  ScopeId scope() {
    return sql.contains("scope = 2") ? Shop.LIMITED : Shop.OPEN;
  }

  List<StockViolation> violations() {
    List<StockViolation> expected = new ArrayList<>();
    details.forEach(
        (where, detail) -> {
          String check = where.substring(2);
          int pool = Character.digit(where.charAt(0), 10);
          expected.add(
              new StockViolation(StockInvariant.valueOf(check), scope().value(), pool, detail));
        });
    return expected;
  }

  /** A buyer's quota belongs to no one pool, so the whole scope stops. */
  private static Map<String, String> everywhere(String detail) {
    return Map.of("1 QUOTAS", detail, "2 QUOTAS", detail, "3 QUOTAS", detail);
  }

  private static String id(char hold) {
    return "'00000000-0000-7000-8000-00000000000%s'::uuid".formatted(hold);
  }

  private static String unitOf(char hold) {
    return "(SELECT min(unit) FROM lockstep.unit WHERE scope = 1 AND hold = %s)"
        .formatted(id(hold));
  }
}
