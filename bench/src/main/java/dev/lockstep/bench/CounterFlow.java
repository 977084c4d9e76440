package dev.lockstep.bench;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * What a careful team writes by hand: one stock row, one reservation row, one transaction per
 * caller. No limit, no idempotency beyond the key's unique index, no audit, no expiry.
 */
final class CounterFlow {
  private static final int STOCK = 100_000_000;

  private final BenchDatabase database;
  private final DataSource pool;
  private final int first;
  private final int products;
  private final boolean lockFirst;

  private CounterFlow(BenchDatabase database, int first, int products, boolean lockFirst) {
    this.database = database;
    this.pool = database.pool();
    this.first = first;
    this.products = products;
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

  /**
   * Creates products, numbered from the first.
   *
   * @param lockFirst SELECT … FOR UPDATE, then UPDATE; else one conditional UPDATE
   */
  static CounterFlow create(BenchDatabase database, int first, int products, boolean lockFirst)
      throws SQLException {
    database.execute(
        "INSERT INTO counter.product SELECT i, %d FROM generate_series(%d, %d) i"
            .formatted(STOCK, first, first + products - 1));
    return new CounterFlow(database, first, products, lockFirst);
  }

  /** Reservations made; -1 if the stock disagrees. */
  long reservations() throws SQLException {
    return database.number(
        """
        SELECT CASE WHEN p.taken = r.n THEN r.n ELSE -1 END
        FROM (SELECT sum(%1$d - stock) taken FROM counter.product WHERE id BETWEEN %2$d AND %3$d) p,
          (SELECT count(*) n FROM counter.reservation WHERE product BETWEEN %2$d AND %3$d) r"""
            .formatted(STOCK, first, first + products - 1));
  }

  /** The products take turns. */
  void reserve(long number) throws SQLException {
    int product = first + (int) (number % products);
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
          "%d-%d".formatted(first, number),
          product,
          Names.buyer(number));
      connection.commit();
      connection.setAutoCommit(true);
    }
  }
}
