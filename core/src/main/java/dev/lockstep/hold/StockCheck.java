package dev.lockstep.hold;

import dev.lockstep.combine.Slices;
import dev.lockstep.hold.PoolFacts.Mark;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.Isolation;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that all records of a scope's stock agree, and pauses the pools where they do not. It
 * reads snapshots, so a sale under way never looks like an error.
 *
 * <p>Scopes are checked one after the other. A small scope takes one REPEATABLE READ snapshot. A
 * large one is read in slices of a few thousand rows, each in its own short snapshot; {@link
 * HoldSlices} explains how sums stay exact while rows change. After each slice the check pauses for
 * as long as the slice took. So it costs sales at most half a core and does not hold VACUUM back.
 *
 * <p>{@link #checkChanged} checks pools that changed since the last check; in a large scope it
 * reads only the audit rows written since, with their holds. Manual changes elsewhere in a large
 * scope are found by {@link #checkAll}, which reads everything. Neither locks a row of the stock.
 * Several nodes may check at once. An interrupt ends a check between two slices.
 *
 * <p>Thread-safe.
 */
public final class StockCheck {
  private static final Logger log = LoggerFactory.getLogger(StockCheck.class);
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final long SMALL_SCOPE = 20_000;
  private static final int PAGE = 5_000;

  /** Replaces a mark's sequence number if the pool was found broken. */
  private static final long BROKEN = -1;

  // A counter changed by hand differs from its mark even if the sequence does not. A new or broken
  // pool differs from any mark.
  private static final String LOOKED_AT =
      """
      FROM lockstep.pool p LEFT JOIN lockstep.audit_mark m ON m.scope = p.scope AND m.pool = p.pool
      WHERE (? OR (p.audit_seq, p.held, p.sold, p.total)
        IS DISTINCT FROM (m.seq, m.held, m.sold, m.total))
      """;

  // Estimates a scope's rows. A hold has at least one audit row; holds loaded by hand at least
  // count in the pool's counters.
  private static final String SCOPES =
      """
      SELECT s.scope, sum(greatest(q.audit_seq, q.held + q.sold)
        + CASE WHEN q.has_units THEN q.total ELSE 0 END)
      FROM (SELECT DISTINCT p.scope %s) s JOIN lockstep.pool q ON q.scope = s.scope
      GROUP BY s.scope ORDER BY s.scope"""
          .formatted(LOOKED_AT);

  private static final String POOLS =
      "SELECT p.pool, p.has_units, p.total, p.held, p.sold, p.audit_seq, m.seq AS mark_seq,"
          + " m.held AS mark_held, m.sold AS mark_sold, m.total AS mark_total "
          + LOOKED_AT
          + "AND p.scope = ? ORDER BY p.pool";

  private static final String FORGET_MENDED =
      "DELETE FROM lockstep.audit_mark WHERE scope = ? AND pool = ANY (?) AND seq = -1";

  // Two nodes may have checked at different times: the later mark stays, and an earlier check does
  // not clear a pool that another node found broken.
  private static final String SAVE_MARKS =
      """
      INSERT INTO lockstep.audit_mark AS m (scope, pool, seq, held, sold, total)
      SELECT ?, x.pool, x.seq, x.held, x.sold, x.total
      FROM unnest(?, ?, ?, ?, ?) AS x (pool, seq, held, sold, total)
      ON CONFLICT (scope, pool) DO UPDATE
      SET seq = excluded.seq, held = excluded.held, sold = excluded.sold, total = excluded.total
      WHERE (excluded.seq = -1 OR m.seq BETWEEN 0 AND excluded.seq)
        AND (m.seq, m.held, m.sold, m.total)
          IS DISTINCT FROM (excluded.seq, excluded.held, excluded.sold, excluded.total)""";

  private static final TxOptions SNAPSHOT =
      TxOptions.DEFAULT
          .withLabel("invariants")
          .withIsolation(Isolation.REPEATABLE_READ)
          .asReadOnly()
          .withStatementTimeout(PATIENCE)
          .withDeadline(PATIENCE);

  private final Transactor transactor;
  private final PoolPauser pauser;
  private final long smallScope;
  private final int page;

  /**
   * @param pauser called once per violation, after the snapshot has ended. If it throws, the check
   *     throws that exception after it has passed on all other violations.
   */
  public StockCheck(Transactor transactor, PoolPauser pauser) {
    this(transactor, pauser, SMALL_SCOPE, PAGE);
  }

  /**
   * @param smallScope a scope with up to this many rows is checked in one snapshot
   * @param page rows per slice of a larger scope
   */
  StockCheck(Transactor transactor, PoolPauser pauser, long smallScope, int page) {
    this.transactor = transactor;
    this.pauser = pauser;
    this.smallScope = smallScope;
    this.page = page;
  }

  /** Checks what changed since the last check that found nothing wrong with it. */
  public StockReport checkChanged() {
    return check(false, soFar -> {});
  }

  /** Checks everything, from each pool's first audit row. */
  public StockReport checkAll() {
    return check(true, soFar -> {});
  }

  /** As {@link #checkAll()}, and reports progress after each slice. */
  public StockReport checkAll(Consumer<StockReport> progress) {
    return check(true, progress);
  }

  /**
   * @param size rows to read if everything is checked
   */
  private record Scope(long id, long size) {}

  private record Begun(Instant at, List<Scope> scopes) {}

  private record Found(List<PoolFacts> pools, List<StockViolation> violations) {}

  /** What a check has read and found so far. */
  private static final class Tally {
    private final Instant at;
    private final List<PoolFacts> pools = new ArrayList<>();
    private final List<StockViolation> violations = new ArrayList<>();

    Tally(Instant at) {
      this.at = at;
    }

    void add(Found found) {
      pools.addAll(found.pools());
      violations.addAll(found.violations());
    }

    StockReport report(long slices) {
      long changes =
          pools.stream().mapToLong(pool -> Math.max(0, pool.auditSeq() - pool.from().seq())).sum();
      return new StockReport(at, pools.size(), changes, slices, violations);
    }
  }

  private StockReport check(boolean everything, Consumer<StockReport> progress) {
    Begun begun = transactor.call(SNAPSHOT, connection -> begin(connection, everything));
    Tally tally = new Tally(begun.at());
    AtomicLong done = new AtomicLong();
    Slices slices =
        new Slices(
            transactor,
            SNAPSHOT,
            page,
            () -> progress.accept(tally.report(done.incrementAndGet())));
    List<RuntimeException> failures = new ArrayList<>();
    for (Scope scope : begun.scopes()) {
      try {
        Found found = look(slices, scope, everything);
        pauseAll(found.violations(), failures);
        saveMarks(scope.id(), found.pools(), found.violations());
        tally.add(found);
      } catch (RuntimeException e) {
        // A scope that cannot be checked does not stop the others.
        failures.add(e);
        if (Thread.currentThread().isInterrupted()) {
          break;
        }
      }
    }
    if (!failures.isEmpty()) {
      RuntimeException first = failures.get(0);
      failures.subList(1, failures.size()).forEach(first::addSuppressed);
      throw first;
    }
    return tally.report(done.get());
  }

  private Found look(Slices slices, Scope scope, boolean everything) {
    if (scope.size() <= smallScope) {
      return slices.whole(connection -> look(connection, scope.id(), everything));
    }
    List<PoolFacts> pools = slices.whole(connection -> pools(connection, scope.id(), everything));
    LargeScope large = new LargeScope(slices, scope.id(), pools);
    return new Found(pools, everything ? large.everything() : large.changed());
  }

  /** Pauses the pool of every violation; a pool that cannot be paused does not stop the others. */
  private void pauseAll(List<StockViolation> violations, List<RuntimeException> failures) {
    for (StockViolation violation : violations) {
      log.error(
          "Invariant broken: {} of pool {} in scope {}: {}",
          violation.check(),
          violation.pool(),
          violation.scope(),
          violation.detail());
      try {
        pauser.pause(violation);
      } catch (RuntimeException e) {
        failures.add(e);
      }
    }
  }

  private static Begun begin(Connection connection, boolean everything) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Instant> now = trip.now();
    Rows<Scope> scopes =
        trip.query(SCOPES, row -> new Scope(row.getLong(1), row.getLong(2)), everything);
    trip.send();
    return new Begun(now.list().get(0), scopes.list());
  }

  private static Found look(Connection connection, long scope, boolean everything)
      throws SQLException {
    List<PoolFacts> pools = pools(connection, scope, everything);
    return new Found(
        pools, pools.isEmpty() ? List.of() : new ScopeCheck(scope, pools).violations(connection));
  }

  private static List<PoolFacts> pools(Connection connection, long scope, boolean everything)
      throws SQLException {
    return RoundTrip.list(connection, POOLS, row -> facts(row, everything), everything, scope);
  }

  private static PoolFacts facts(ResultSet row, boolean everything) throws SQLException {
    Mark mark =
        new Mark(
            row.getLong("mark_seq"),
            row.getInt("mark_held"),
            row.getInt("mark_sold"),
            row.getInt("mark_total"));
    boolean broken = mark.seq() == BROKEN;
    return new PoolFacts(
        row.getLong("pool"),
        row.getBoolean("has_units"),
        row.getInt("total"),
        row.getInt("held"),
        row.getInt("sold"),
        row.getLong("audit_seq"),
        broken,
        everything || broken ? Mark.START : mark);
  }

  /**
   * Saves the marks. A pool with a violation is checked again from its first audit row until it is
   * repaired.
   */
  private void saveMarks(long scope, List<PoolFacts> pools, List<StockViolation> violations) {
    Set<Long> broken = violations.stream().map(StockViolation::pool).collect(Collectors.toSet());
    List<Mark> marks =
        pools.stream()
            .map(pool -> broken.contains(pool.pool()) ? new Mark(BROKEN, 0, 0, 0) : pool.now())
            .toList();
    List<Long> mended =
        pools.stream()
            .filter(pool -> pool.wasBroken() && !broken.contains(pool.pool()))
            .map(PoolFacts::pool)
            .toList();
    transactor.run(
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          if (!mended.isEmpty()) {
            trip.update(FORGET_MENDED, scope, SqlArray.bigints(mended));
          }
          // In pool order, so that two nodes cannot deadlock.
          trip.update(
              SAVE_MARKS,
              scope,
              SqlArray.bigints(pools.stream().map(PoolFacts::pool).toList()),
              SqlArray.bigints(marks.stream().map(Mark::seq).toList()),
              SqlArray.integers(marks.stream().map(Mark::held).toList()),
              SqlArray.integers(marks.stream().map(Mark::sold).toList()),
              SqlArray.integers(marks.stream().map(Mark::total).toList()));
          trip.send();
        });
  }
}
