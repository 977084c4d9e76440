package dev.lockstep.hold;

import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Release;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import javax.sql.DataSource;

/**
 * Two scopes with pools of both kinds and holds in every state, small enough to be known by heart.
 *
 * <p>In each scope Alice holds 3 of {@link #COUNTED} and 2 of {@link #UNITS}, Bob has bought 2 and
 * 1, and Carol had 1 and 1 and gave them back: five audit rows in both pools. Nobody has touched
 * {@link #QUIET}.
 */
final class Shop implements AutoCloseable {
  static final ScopeId OPEN = new ScopeId(1);
  static final ScopeId LIMITED = new ScopeId(2);
  static final PoolId COUNTED = new PoolId(1);
  static final PoolId UNITS = new PoolId(2);
  static final PoolId QUIET = new PoolId(3);
  static final int POOLS = 6;
  static final int CHANGES = 20;
  static final HoldId ALICES = HoldId.of("00000000-0000-7000-8000-00000000000a");
  static final HoldId BOBS = HoldId.of("00000000-0000-7000-8000-00000000000b");
  static final HoldId CAROLS = HoldId.of("00000000-0000-7000-8000-00000000000c");

  static final UnitShuffle SHUFFLE = UnitShuffle.seeded("000102030405060708090a0b0c0d0e0f");

  private static final Actor OPERATOR = Actor.operator("test");

  private final TestDatabase database;
  final Holds holds;
  final StockCheck audit;

  Shop(TestDatabase database) {
    this.database = database;
    holds = new Holds(new Transactor(database.dataSource()));
    audit = auditOn(database.dataSource());
  }

  /** Another node's auditor, which stops selling in the same way. */
  StockCheck auditOn(DataSource dataSource) {
    return new StockCheck(
        new Transactor(dataSource),
        v -> holds.pause(new ScopeId(v.scope()), new PoolId(v.pool()), v.detail()));
  }

  /** As above, whatever was there before. */
  void open() {
    byHand(
        """
        TRUNCATE lockstep.scope, lockstep.pool, lockstep.unit, lockstep.hold, lockstep.quota,
          lockstep.stock_audit, lockstep.audit_mark""");
    holds.createScope(OPEN, OptionalInt.empty());
    holds.createScope(LIMITED, OptionalInt.of(10));
    for (ScopeId scope : List.of(OPEN, LIMITED)) {
      holds.createPools(
          scope,
          List.of(
              NewPool.counted(COUNTED, 20),
              NewPool.ofUnits(UNITS, 20, SHUFFLE),
              NewPool.counted(QUIET, 20)));
      acquire(scope, ALICES, "alice", Line.of(COUNTED, 3), Line.of(UNITS, 2));
      acquire(scope, BOBS, "bob", Line.of(COUNTED, 2), Line.of(UNITS, 1));
      submit(new Confirm(scope, BOBS, OPERATOR));
      acquire(scope, CAROLS, "carol", Line.of(COUNTED, 1), Line.of(UNITS, 1));
      submit(new Release(scope, CAROLS, OPERATOR));
    }
  }

  /** One of a pool, for a buyer who has none yet. */
  AcquireResult buy(ScopeId scope, PoolId pool) {
    return acquire(scope, HoldId.next(), "dave", Line.of(pool, 1));
  }

  void release(ScopeId scope, HoldId hold) {
    submit(new Release(scope, hold, OPERATOR));
  }

  private AcquireResult acquire(ScopeId scope, HoldId hold, String buyer, Line... lines) {
    return submit(
        Acquire.of(scope, hold, new BuyerId(buyer), List.of(lines), Duration.ofMinutes(15)));
  }

  private <R extends HoldOutcome> R submit(HoldCommand<R> command) {
    return holds.submit(command).toCompletableFuture().join();
  }

  /** As a superuser can, past the triggers that keep the audit append-only. */
  void byHand(String sql) {
    database.execute("BEGIN; SET LOCAL session_replication_role = replica; " + sql + "; COMMIT");
  }

  /** Remembers the rows that {@link #mend} puts back. */
  void backUp() {
    database.execute(
        """
        DROP SCHEMA IF EXISTS backup CASCADE;
        CREATE SCHEMA backup;
        CREATE TABLE backup.pool AS SELECT * FROM lockstep.pool;
        CREATE TABLE backup.unit AS SELECT * FROM lockstep.unit;
        CREATE TABLE backup.hold AS SELECT * FROM lockstep.hold;
        CREATE TABLE backup.quota AS SELECT * FROM lockstep.quota;
        CREATE TABLE backup.stock_audit AS
          SELECT * FROM lockstep.stock_audit WHERE pool <> 3""");
  }

  /** Whatever was changed by hand is as before; what was sold since elsewhere stays sold. */
  void mend() {
    byHand(
        """
        UPDATE lockstep.pool p
          SET total = b.total, held = b.held, sold = b.sold, next_rank = b.next_rank,
            audit_seq = b.audit_seq
          FROM backup.pool b WHERE b.scope = p.scope AND b.pool = p.pool AND p.pool <> 3;
        DELETE FROM lockstep.unit;
        INSERT INTO lockstep.unit SELECT * FROM backup.unit;
        DELETE FROM lockstep.hold WHERE (scope, hold) IN (SELECT scope, hold FROM backup.hold);
        INSERT INTO lockstep.hold SELECT * FROM backup.hold;
        DELETE FROM lockstep.quota WHERE buyer <> 'dave';
        INSERT INTO lockstep.quota SELECT * FROM backup.quota;
        DELETE FROM lockstep.stock_audit WHERE pool <> 3;
        INSERT INTO lockstep.stock_audit SELECT * FROM backup.stock_audit""");
  }

  @Override
  public void close() {
    holds.close();
  }
}
