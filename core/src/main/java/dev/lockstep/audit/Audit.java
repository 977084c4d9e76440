package dev.lockstep.audit;

import dev.lockstep.audit.PoolFacts.Mark;
import dev.lockstep.tx.Isolation;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.SqlArray;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that every record of a scope's stock agrees with every other, in one REPEATABLE READ
 * snapshot, so that a sale under way is never mistaken for an error; and pauses the pools where
 * they do not.
 *
 * <p>Scopes are checked one after the other, each in a snapshot of its own, which keeps VACUUM back
 * no longer than that takes. After each it rests for as long: those who sell meanwhile have half a
 * core less at most.
 *
 * <p>{@link #checkChanged} looks at pools that have changed since the last check and at the audit
 * rows written since; {@link #checkAll} looks at everything from the beginning. Neither locks a
 * row. Several nodes may check at once.
 *
 * <p>Thread-safe.
 */
public final class Audit {
  private static final Logger log = LoggerFactory.getLogger(Audit.class);
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  /** In place of a mark's sequence number: the pool was found broken. */
  private static final long BROKEN = -1;

  // A counter that was changed by hand differs from the mark even though the sequence does not; a
  // pool that is new, or was found broken, differs from any.
  private static final String LOOKED_AT =
      """
      FROM lockstep.pool p LEFT JOIN lockstep.audit_mark m ON m.scope = p.scope AND m.pool = p.pool
      WHERE (? OR (p.audit_seq, p.held, p.sold, p.total)
        IS DISTINCT FROM (m.seq, m.held, m.sold, m.total))
      """;

  private static final String SCOPES = "SELECT DISTINCT p.scope " + LOOKED_AT + "ORDER BY p.scope";

  private static final String POOLS =
      "SELECT p.pool, p.has_units, p.total, p.held, p.sold, p.audit_seq, m.seq, m.held, m.sold,"
          + " m.total "
          + LOOKED_AT
          + "AND p.scope = ? ORDER BY p.pool";

  private static final String NOW = "SELECT now()";

  private static final String FORGET_MENDED =
      "DELETE FROM lockstep.audit_mark WHERE scope = ? AND pool = ANY (?) AND seq = -1";

  // Two nodes may have looked at different moments: the later one's mark stays, and what one has
  // found broken is not passed by another that looked before.
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

  private final Transactor transactor;
  private final PoolPauser pauser;

  /**
   * @param pauser called once a violation, after the snapshot has ended. What it throws is thrown
   *     by the check, after all other violations have been passed to it.
   */
  public Audit(Transactor transactor, PoolPauser pauser) {
    this.transactor = transactor;
    this.pauser = pauser;
  }

  /** Checks what has changed since the last check that found nothing wrong with it. */
  public AuditReport checkChanged() {
    return check(false);
  }

  /** Checks everything, from each pool's first audit row. */
  public AuditReport checkAll() {
    return check(true);
  }

  private record Begun(Instant at, List<Long> scopes) {}

  private record Found(List<PoolFacts> pools, List<Violation> violations) {}

  private AuditReport check(boolean everything) {
    TxOptions snapshot =
        TxOptions.DEFAULT
            .withLabel("invariants")
            .withIsolation(Isolation.REPEATABLE_READ)
            .asReadOnly()
            .withStatementTimeout(PATIENCE)
            .withDeadline(PATIENCE);
    Begun begun = transactor.call(snapshot, connection -> begin(connection, everything));
    List<PoolFacts> pools = new ArrayList<>();
    List<Violation> violations = new ArrayList<>();
    List<RuntimeException> failures = new ArrayList<>();
    for (long scope : begun.scopes()) {
      long beganNanos = System.nanoTime();
      try {
        Found found = transactor.call(snapshot, connection -> look(connection, scope, everything));
        pauseAll(found.violations(), failures);
        saveMarks(scope, found.pools(), found.violations());
        pools.addAll(found.pools());
        violations.addAll(found.violations());
      } catch (RuntimeException e) {
        // One that cannot be checked keeps no other from being checked.
        failures.add(e);
        if (Thread.currentThread().isInterrupted()) {
          break;
        }
      }
      LockSupport.parkNanos(this, System.nanoTime() - beganNanos);
    }
    if (!failures.isEmpty()) {
      RuntimeException first = failures.get(0);
      failures.subList(1, failures.size()).forEach(first::addSuppressed);
      throw first;
    }
    long changes =
        pools.stream().mapToLong(pool -> Math.max(0, pool.auditSeq() - pool.from().seq())).sum();
    return new AuditReport(begun.at(), pools.size(), changes, violations);
  }

  /** One that cannot be paused keeps no other from being paused. */
  private void pauseAll(List<Violation> violations, List<RuntimeException> failures) {
    for (Violation violation : violations) {
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
    Rows<Instant> now = trip.query(NOW, row -> row.getObject(1, OffsetDateTime.class).toInstant());
    Rows<Long> scopes = trip.query(SCOPES, row -> row.getLong(1), everything);
    trip.send();
    return new Begun(now.list().get(0), scopes.list());
  }

  private static Found look(Connection connection, long scope, boolean everything)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<PoolFacts> pools = trip.query(POOLS, row -> facts(row, everything), everything, scope);
    trip.send();
    List<Violation> violations =
        pools.list().isEmpty()
            ? List.of()
            : new ScopeCheck(scope, pools.list()).violations(connection);
    return new Found(pools.list(), violations);
  }

  private static PoolFacts facts(ResultSet row, boolean everything) throws SQLException {
    Mark mark = new Mark(row.getLong(7), row.getInt(8), row.getInt(9), row.getInt(10));
    boolean broken = mark.seq() == BROKEN;
    return new PoolFacts(
        row.getLong(1),
        row.getBoolean(2),
        row.getInt(3),
        row.getInt(4),
        row.getInt(5),
        row.getLong(6),
        broken,
        everything || broken ? Mark.START : mark);
  }

  /** A pool with a violation is looked at again, from its first audit row, until it is mended. */
  private void saveMarks(long scope, List<PoolFacts> pools, List<Violation> violations) {
    Set<Long> broken = violations.stream().map(Violation::pool).collect(Collectors.toSet());
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
          // In the order of the pools: two nodes cannot wait for each other in a ring.
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
