package dev.lockstep.hold;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/**
 * Stock sold as the source documents would sell it (docs/errata.md). Each flow has a gap in which
 * two callers can meet; a barrier makes them meet there every time.
 */
final class NaiveSale {
  private static final String TABLES =
      """
      DROP SCHEMA IF EXISTS naive CASCADE;
      CREATE SCHEMA naive;
      CREATE TABLE naive.campaign (total int NOT NULL, sold int NOT NULL);
      CREATE TABLE naive.position (position int PRIMARY KEY, status text NOT NULL, buyer text);
      CREATE TABLE naive.purchase (buyer text NOT NULL, position int);
      """;
  private static final String READ_SOLD = "SELECT sold FROM naive.campaign";
  private static final String READ_TOTAL = "SELECT total FROM naive.campaign";
  private static final String WRITE_SOLD = "UPDATE naive.campaign SET sold = ?";
  private static final String PURCHASE = "INSERT INTO naive.purchase (buyer) VALUES (?)";
  private static final String BOUGHT = "SELECT count(*) FROM naive.purchase WHERE buyer = ?";
  static final String TAKE_ANY =
      """
      WITH free AS (
        SELECT position FROM naive.position WHERE status = 'available'
        ORDER BY random() LIMIT 1 FOR UPDATE SKIP LOCKED)
      UPDATE naive.position p SET status = 'reserved', buyer = ?
      FROM free WHERE p.position = free.position""";
  private static final String COUNT_ONE_MORE = "UPDATE naive.campaign SET sold = sold + 1";

  private final TestDatabase database;

  NaiveSale(TestDatabase database, int total) {
    this.database = database;
    database.execute(TABLES);
    database.execute("INSERT INTO naive.campaign VALUES (" + total + ", 0)");
    database.execute(
        "INSERT INTO naive.position SELECT n, 'available' FROM generate_series(1, %d) n"
            .formatted(total));
  }

  long purchases() {
    return database.queryLong("SELECT count(*) FROM naive.purchase");
  }

  long sold() {
    return database.queryLong(READ_SOLD);
  }

  /** Is there some left? Then one more is sold. */
  boolean readThenWrite(String buyer, CyclicBarrier gap) throws Exception {
    try (Connection connection = begin(Connection.TRANSACTION_READ_COMMITTED)) {
      long sold = Sql.query(connection, READ_SOLD);
      if (sold >= Sql.query(connection, READ_TOTAL)) {
        return false;
      }
      meet(gap);
      Sql.execute(connection, WRITE_SOLD, (int) sold + 1);
      Sql.execute(connection, PURCHASE, buyer);
      connection.commit();
      return true;
    }
  }

  /** E1: REPEATABLE READ, any free position, and the campaign's counter. */
  boolean repeatableReadAndCount(String buyer, CyclicBarrier gap) throws Exception {
    try (Connection connection = begin(Connection.TRANSACTION_REPEATABLE_READ)) {
      if (Sql.execute(connection, TAKE_ANY, buyer) == 0) {
        return false;
      }
      meet(gap);
      Sql.execute(connection, PURCHASE, buyer);
      Sql.execute(connection, COUNT_ONE_MORE);
      connection.commit();
      return true;
    }
  }

  /** E4: has the buyer bought fewer than the limit? Then one more. */
  boolean countThenInsert(String buyer, int limit, CyclicBarrier gap) throws Exception {
    try (Connection connection = begin(Connection.TRANSACTION_REPEATABLE_READ)) {
      if (Sql.query(connection, BOUGHT, buyer) >= limit) {
        return false;
      }
      meet(gap);
      Sql.execute(connection, PURCHASE, buyer);
      connection.commit();
      return true;
    }
  }

  /** E8: the key is remembered beside the transaction, when that is done. */
  boolean rememberKeyAfterwards(Set<String> seen, String key, CyclicBarrier gap) throws Exception {
    if (seen.contains(key)) {
      return false;
    }
    meet(gap);
    try (Connection connection = begin(Connection.TRANSACTION_READ_COMMITTED)) {
      Sql.execute(connection, PURCHASE, key);
      connection.commit();
    }
    return seen.add(key);
  }

  /** E5, as the document has it: a layer is full when it has as many as its number says. */
  void addCapacityTrigger() {
    database.execute(
        """
        CREATE FUNCTION naive.check_layer_capacity() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF (SELECT count(*) FROM naive.position WHERE status IN ('reserved', 'sold'))
             >= (SELECT total FROM naive.campaign) THEN
            RAISE EXCEPTION 'Layer capacity exceeded';
          END IF;
          RETURN NEW;
        END $$;
        CREATE TRIGGER check_capacity BEFORE UPDATE ON naive.position FOR EACH ROW
          WHEN (NEW.status IN ('reserved', 'sold')) EXECUTE FUNCTION naive.check_layer_capacity();
        """);
  }

  Connection begin(int isolation) throws SQLException {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    connection.setTransactionIsolation(isolation);
    return connection;
  }

  private static void meet(CyclicBarrier gap) throws InterruptedException, BrokenBarrierException {
    gap.await();
  }
}
