package dev.lockstep.hold;

import dev.lockstep.combine.Door;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;

/** Keeps the writer of a sale's queue waiting for a pool, until ended. */
final class Busy implements AutoCloseable {
  private final Connection connection;
  private final CompletableFuture<AcquireResult> first;

  Busy(TestDatabase database, Sale sale, PoolId pool) throws SQLException {
    connection = database.connection();
    connection.setAutoCommit(false);
    Sql.query(
        connection,
        "SELECT 1 FROM lockstep.pool WHERE scope = ? AND pool = ? FOR UPDATE",
        sale.scope().value(),
        pool.value());
    first = sale.node().submit(sale.acquire("busy", Line.of(pool, 1))).toCompletableFuture();
    Await.blocked(database, 1);
  }

  void end() throws SQLException {
    connection.rollback();
    Door.await(first);
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
