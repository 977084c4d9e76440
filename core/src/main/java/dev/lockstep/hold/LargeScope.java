package dev.lockstep.hold;

import dev.lockstep.combine.Slices;
import dev.lockstep.hold.StockViolation.StockInvariant;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Checks a scope that has too many rows for one short snapshot.
 *
 * <p>{@link #changed} judges by the audit rows written since the mark: the chain, its end, the
 * total, and each ended hold. {@link #everything} reads all rows in slices. If the former finds a
 * fault, the latter runs and names it in full.
 */
final class LargeScope {
  // In one snapshot: the pool, its newest audit row, and the sum of its total's changes.
  private static final String ENDS =
      """
      SELECT p.pool, p.held, p.sold, p.total, p.audit_seq, e.seq, e.held_after, e.sold_after,
        coalesce((SELECT sum(t.total_after - t.total_before) FROM lockstep.stock_audit t
          WHERE t.scope = p.scope AND t.pool = p.pool AND t.total_after IS NOT NULL), 0) AS accounted
      FROM lockstep.pool p
      LEFT JOIN LATERAL (SELECT a.seq, a.held_after, a.sold_after FROM lockstep.stock_audit a
        WHERE a.scope = p.scope AND a.pool = p.pool ORDER BY a.seq DESC LIMIT 1) e ON true
      WHERE p.scope = ? AND p.pool = ANY (?) ORDER BY p.pool""";

  private static final String LIMITED =
      "SELECT 1 FROM lockstep.scope WHERE scope = ? AND buyer_limit IS NOT NULL";

  private static final int MAX_ATTEMPTS = 3;

  private final Slices slices;
  private final long scope;
  private final List<PoolFacts> pools;
  private final Set<Long> wanted = new HashSet<>();
  private final Map<String, StockViolation> found = new LinkedHashMap<>();

  LargeScope(Slices slices, long scope, List<PoolFacts> pools) {
    this.slices = slices;
    this.scope = scope;
    this.pools = pools;
    pools.forEach(pool -> wanted.add(pool.pool()));
  }

  /** Checks what changed; checks everything if a fault was found before or is found now. */
  List<StockViolation> changed() {
    if (pools.stream().noneMatch(PoolFacts::wasBroken)) {
      addAll(new ChainSlices(slices, scope).violations(pools));
      ends();
      if (found.isEmpty()) {
        return List.of();
      }
      found.clear();
    }
    return everything();
  }

  /** Checks everything in the given pools. */
  List<StockViolation> everything() {
    addAll(new ChainSlices(slices, scope).violations(fromTheStart()));
    ends();
    addAll(new UnitSlices(slices, scope).violations(pools));
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      HoldSlices holds = new HoldSlices(slices, scope);
      if (holds.addUpHolds()) {
        addAll(holds.violations());
        if (isLimited() && !holds.quotasAgree()) {
          quotas();
        }
        break;
      }
    }
    return List.copyOf(found.values());
  }

  private List<PoolFacts> fromTheStart() {
    return pools.stream().map(PoolFacts::fromTheStart).toList();
  }

  private boolean isLimited() {
    return slices.next(
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          Rows<Boolean> limited = trip.query(LIMITED, row -> true, scope);
          trip.send();
          return !limited.list().isEmpty();
        });
  }

  /** The sums differ for some buyer. Only now we search for the buyer, which may take long. */
  private void quotas() {
    String detail =
        slices.whole(connection -> ScopeCheck.firstWrongQuota(connection, scope)).orElse("");
    if (!detail.isEmpty()) {
      pools.forEach(
          pool -> add(new StockViolation(StockInvariant.QUOTAS, scope, pool.pool(), detail)));
    }
  }

  private record End(
      long pool,
      long held,
      long sold,
      long total,
      long seq,
      boolean hasRow,
      long newest,
      long heldAfter,
      long soldAfter,
      long accounted) {}

  private void ends() {
    slices.next(this::readEnds).forEach(this::check);
  }

  private List<End> readEnds(Connection connection) throws SQLException {
    return RoundTrip.list(
        connection,
        ENDS,
        row ->
            new End(
                row.getLong("pool"),
                row.getLong("held"),
                row.getLong("sold"),
                row.getLong("total"),
                row.getLong("audit_seq"),
                row.getObject("seq") != null,
                row.getLong("seq"),
                row.getLong("held_after"),
                row.getLong("sold_after"),
                row.getLong("accounted")),
        scope,
        SqlArray.bigints(pools.stream().map(PoolFacts::pool).toList()));
  }

  private void check(End end) {
    StockFindings ends = new StockFindings(scope);
    if (end.newest() > end.seq()) {
      ends.add(
          StockInvariant.AUDIT_CHAIN,
          end.pool(),
          "there is audit row %d, where the pool counts %d".formatted(end.newest(), end.seq()));
    } else if (end.newest() < end.seq()) {
      ends.missingEnd(end.pool(), end.seq());
    } else {
      ends.end(end.pool(), end.held(), end.sold(), end.heldAfter(), end.soldAfter());
    }
    ends.total(end.pool(), end.total(), end.accounted());
    addAll(ends.all());
  }

  private void addAll(List<StockViolation> violations) {
    violations.forEach(this::add);
  }

  /** Keeps only the first finding per pool and check: one fault often causes others. */
  private void add(StockViolation violation) {
    if (wanted.contains(violation.pool())) {
      found.putIfAbsent(violation.check() + " " + violation.pool(), violation);
    }
  }
}
