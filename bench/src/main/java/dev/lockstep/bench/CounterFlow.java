package dev.lockstep.bench;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * What a careful team writes by hand: one stock row, one reservation row, one transaction a caller.
 * No limit, no idempotency beyond the key's unique index, no audit, no expiry.
 */
final class CounterFlow {
  private final DataSource pool;
  private final int product;
  private final boolean lockFirst;

  private CounterFlow(DataSource pool, int product, boolean lockFirst) {
    this.pool = pool;
    this.product = product;
    this.lockFirst = lockFirst;
  }

  static void createTables(BenchDatabase database) throws SQLException {
    database.execute(
        """
        CREATE SCHEMA counter;
        CREATE TABLE counter.product (id int PRIMARY KEY, stock int NOT NULL CHECK (stock >= 0))
          WITH (fillfactor = 20);
        CREATE TABLE counter.reservation (
          key text PRIMARY KEY, product int NOT NULL, buyer text NOT NULL, at timestamptz NOT NULL);
        """);
  }

  /** With {@code lockFirst}: SELECT … FOR UPDATE, then UPDATE; without: one conditional UPDATE. */
  static CounterFlow create(BenchDatabase database, int product, boolean lockFirst)
      throws SQLException {
    database.execute("INSERT INTO counter.product VALUES (" + product + ", 100000000)");
    return new CounterFlow(database.pool(), product, lockFirst);
  }

  static long reservations(BenchDatabase database, int product) throws SQLException {
    return database.number(
        """
        SELECT CASE WHEN 100000000 - p.stock = count(r.*) THEN count(r.*) ELSE -1 END
        FROM counter.product p LEFT JOIN counter.reservation r ON r.product = p.id
        WHERE p.id = %d GROUP BY p.stock"""
            .formatted(product));
  }

  void reserve(String buyer, String key) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      if (lockFirst) {
        Sql.run(connection, "SELECT stock FROM counter.product WHERE id = ? FOR UPDATE", product);
      }
      Sql.run(
          connection,
          "UPDATE counter.product SET stock = stock - 1 WHERE id = ? AND stock >= 1",
          product);
      Sql.run(
          connection,
          "INSERT INTO counter.reservation VALUES (?, ?, ?, now())",
          key,
          product,
          buyer);
      connection.commit();
      connection.setAutoCommit(true);
    }
  }
}
