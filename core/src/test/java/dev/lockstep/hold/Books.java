package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What must be true of a scope at every instant, asked of the tables alone, without the code under
 * test. All questions see one snapshot, so they may be asked while others sell.
 */
final class Books {
  private static final String LINES =
      """
      WITH line AS (
        SELECT h.hold, h.buyer, h.state, x.pool, x.quantity
        FROM lockstep.hold h, unnest(h.pools, h.quantities) AS x (pool, quantity)
        WHERE h.scope = $scope),
      held_unit AS (
        SELECT h.hold, h.state, x.pool, x.unit
        FROM lockstep.hold h, unnest(h.unit_pools, h.units) AS x (pool, unit)
        WHERE h.scope = $scope)
      """;

  /** Each question asks for what should not be there. */
  private static final Map<String, String> QUESTIONS = questions();

  private final TestDatabase database;
  private final ScopeId scope;

  Books(TestDatabase database, ScopeId scope) {
    this.database = database;
    this.scope = scope;
  }

  void check() {
    Map<String, List<String>> wrong = new LinkedHashMap<>();
    inSnapshot(
        connection -> {
          for (Map.Entry<String, String> question : QUESTIONS.entrySet()) {
            List<String> found = rows(connection, LINES + question.getValue());
            if (!found.isEmpty()) {
              wrong.put(question.getKey(), found);
            }
          }
        });
    assertThat(wrong).as("books of scope %d", scope.value()).isEmpty();
  }

  List<String> everything() {
    List<String> all = new ArrayList<>();
    inSnapshot(
        connection -> {
          for (String table : List.of("scope", "pool", "unit", "hold", "quota", "stock_audit")) {
            all.addAll(
                rows(
                    connection,
                    "SELECT '%s' || t::text FROM lockstep.%s t WHERE t.scope = $scope ORDER BY 1"
                        .formatted(table, table)));
          }
        });
    return all;
  }

  private interface Reading {
    void read(Connection connection) throws SQLException;
  }

  private void inSnapshot(Reading reading) {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      reading.read(connection);
      connection.rollback();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private List<String> rows(Connection connection, String sql) throws SQLException {
    String bound = sql.replace("$scope", Long.toString(scope.value()));
    try (PreparedStatement statement = connection.prepareStatement(bound);
        ResultSet row = statement.executeQuery()) {
      List<String> rows = new ArrayList<>();
      while (row.next()) {
        rows.add(row.getString(1));
      }
      return rows;
    }
  }

  private static Map<String, String> questions() {
    Map<String, String> q = new LinkedHashMap<>();
    q.put(
        "oversold",
        "SELECT p::text FROM lockstep.pool p"
            + " WHERE scope = $scope AND (held < 0 OR sold < 0 OR held + sold > total)");
    q.put("counters differ from the lines of live holds", COUNTERS);
    q.put("counters differ from the units taken", UNITS_TAKEN);
    q.put("units and live holds name different owners", OWNERS);
    q.put("a line has more or fewer units than it says", UNITS_OF_LINES);
    q.put("a unit below next_rank was never taken", BELOW_NEXT_RANK);
    q.put("the audit chain is broken", CHAIN);
    q.put("the audit chain does not end where the pool stands", CHAIN_END);
    q.put("the total is not what the audit accounts for", TOTALS);
    q.put("a hold did not end exactly once", ENDS);
    q.put("what a buyer used differs from their live holds", QUOTAS);
    return q;
  }

  private static final String COUNTERS =
      """
      SELECT p::text FROM lockstep.pool p
      LEFT JOIN (SELECT pool, sum(quantity) FILTER (WHERE state = 0) AS held,
                   sum(quantity) FILTER (WHERE state = 1) AS sold
                 FROM line GROUP BY pool) l USING (pool)
      WHERE p.scope = $scope
        AND (p.held, p.sold) <> (coalesce(l.held, 0), coalesce(l.sold, 0))""";

  private static final String UNITS_TAKEN =
      """
      SELECT p::text FROM lockstep.pool p
      LEFT JOIN (SELECT pool, count(*) AS units, count(hold) AS taken,
                   count(DISTINCT rank) AS ranks
                 FROM lockstep.unit WHERE scope = $scope GROUP BY pool) u USING (pool)
      WHERE p.scope = $scope
        AND CASE WHEN p.has_units
              THEN (u.units, u.ranks, u.taken) <> (p.total, p.total, p.held + p.sold)
              ELSE u.units IS NOT NULL END
        AND NOT (u.units IS NULL AND p.total = 0)""";

  private static final String OWNERS =
      """
      SELECT format('unit %s of pool %s: row says %s, hold says %s',
        coalesce(u.unit, l.unit), coalesce(u.pool, l.pool), u.hold, l.hold)
      FROM (SELECT * FROM lockstep.unit WHERE scope = $scope AND hold IS NOT NULL) u
      FULL JOIN (SELECT * FROM held_unit WHERE state IN (0, 1)) l
        ON l.pool = u.pool AND l.unit = u.unit AND l.hold = u.hold
      WHERE u.hold IS NULL OR l.hold IS NULL""";

  private static final String UNITS_OF_LINES =
      """
      SELECT format('hold %s, pool %s: %s, not %s', l.hold, l.pool, count(u.unit), l.quantity)
      FROM line l JOIN lockstep.pool p ON p.scope = $scope AND p.pool = l.pool AND p.has_units
      LEFT JOIN held_unit u ON u.hold = l.hold AND u.pool = l.pool
      GROUP BY l.hold, l.pool, l.quantity HAVING count(u.unit) <> l.quantity""";

  private static final String BELOW_NEXT_RANK =
      """
      SELECT u::text FROM lockstep.unit u
      JOIN lockstep.pool p ON p.scope = u.scope AND p.pool = u.pool AND u.rank < p.next_rank
      WHERE u.scope = $scope AND u.hold IS NULL AND NOT u.returned""";

  private static final String CHAIN =
      """
      SELECT format('pool %s: %s follows %s (held %s, sold %s)', pool, a, seq_was, held_was, sold_was)
      FROM (SELECT a.pool, a.seq, a.held_before, a.held_after, a.sold_before, a.sold_after,
              lag(a.seq, 1, 0::bigint) OVER chain AS seq_was,
              lag(a.held_after, 1, 0) OVER chain AS held_was,
              lag(a.sold_after, 1, 0) OVER chain AS sold_was
            FROM lockstep.stock_audit a WHERE a.scope = $scope AND a.seq > 0
            WINDOW chain AS (PARTITION BY a.pool ORDER BY a.seq)) a
      JOIN lockstep.pool p USING (pool)
      WHERE p.scope = $scope AND (seq <> seq_was + 1 OR held_before <> held_was
        OR sold_before <> sold_was OR held_after < 0 OR sold_after < 0
        OR held_after + sold_after > p.total)""";

  private static final String CHAIN_END =
      """
      SELECT p::text FROM lockstep.pool p
      LEFT JOIN lockstep.stock_audit a
        ON a.scope = p.scope AND a.pool = p.pool AND a.seq = p.audit_seq
      WHERE p.scope = $scope AND ((p.held, p.sold) <> (coalesce(a.held_after, 0), coalesce(a.sold_after, 0))
        OR p.audit_seq <> (SELECT count(*) FROM lockstep.stock_audit c
                           WHERE c.scope = p.scope AND c.pool = p.pool AND c.seq > 0))""";

  private static final String TOTALS =
      """
      SELECT p::text FROM lockstep.pool p WHERE p.scope = $scope AND p.total IS DISTINCT FROM (
        SELECT sum(a.total_after - a.total_before) FROM lockstep.stock_audit a
        WHERE a.scope = p.scope AND a.pool = p.pool)""";

  // The audit must tell the same end as the hold: one row for each of its lines, and no other.
  // What was sold may come back, in one part or several, never more than was sold; a line that came
  // back whole is no longer one.
  private static final String ENDS =
      """
      SELECT format('hold %s, pool %s: state %s, ends in the audit: %s, %s left sold',
        coalesce(l.hold, e.hold), coalesce(l.pool, e.pool), l.state, e.causes, e.left_sold)
      FROM line l FULL JOIN (
        SELECT hold, pool, string_agg((cause - 1)::text, '' ORDER BY seq) AS causes,
          sum(sold_after - sold_before) AS left_sold
        FROM lockstep.stock_audit
        WHERE scope = $scope AND cause BETWEEN 2 AND 5 GROUP BY hold, pool) e
      ON e.hold = l.hold AND e.pool = l.pool
      WHERE coalesce(e.causes, '') !~ CASE l.state
          WHEN 0 THEN '^$' WHEN 1 THEN '^14*$' WHEN 2 THEN '^2$' WHEN 3 THEN '^3$' ELSE '^14+$' END
        OR coalesce(e.left_sold, 0) <> CASE l.state WHEN 1 THEN l.quantity ELSE 0 END""";

  // Sold counts, too: what was bought is used up.
  private static final String QUOTAS =
      """
      SELECT format('buyer %s: used %s, has %s', buyer, q.used, l.used)
      FROM (SELECT * FROM lockstep.quota WHERE scope = $scope AND used > 0) q
      FULL JOIN (SELECT buyer, sum(quantity) AS used FROM line
                 WHERE state IN (0, 1) AND EXISTS (
                   SELECT 1 FROM lockstep.scope WHERE scope = $scope AND buyer_limit IS NOT NULL)
                 GROUP BY buyer) l USING (buyer)
      WHERE q.used IS DISTINCT FROM l.used""";
}
