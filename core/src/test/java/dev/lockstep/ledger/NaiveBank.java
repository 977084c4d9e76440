package dev.lockstep.ledger;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.util.concurrent.CyclicBarrier;

/** Transfers as they are often written: read the balances, compute in the program, write them. */
final class NaiveBank {
  private final TestDatabase database;

  NaiveBank(TestDatabase database, int accounts, long each) {
    this.database = database;
    database.execute(
        """
        CREATE SCHEMA IF NOT EXISTS naive;
        DROP TABLE IF EXISTS naive.account;
        CREATE TABLE naive.account (id int PRIMARY KEY, balance bigint NOT NULL);
        INSERT INTO naive.account SELECT i, %d FROM generate_series(1, %d) i;
        """
            .formatted(each, accounts));
  }

  /** All wait for each other between reading and writing, so that nobody is spared. */
  boolean readThenWrite(String isolation, int from, int to, long amount, CyclicBarrier allHaveRead)
      throws Exception {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      Sql.execute(connection, "SET TRANSACTION ISOLATION LEVEL " + isolation);
      long source = balance(connection, from);
      long target = balance(connection, to);
      allHaveRead.await();
      if (source < amount) {
        return false;
      }
      set(connection, from, source - amount);
      set(connection, to, target + amount);
      connection.commit();
      return true;
    }
  }

  long sum() {
    return database.queryLong("SELECT sum(balance)::bigint FROM naive.account");
  }

  private static long balance(Connection connection, int id) throws Exception {
    return Sql.query(connection, "SELECT balance FROM naive.account WHERE id = ?", id);
  }

  private static void set(Connection connection, int id, long balance) throws Exception {
    Sql.execute(connection, "UPDATE naive.account SET balance = ? WHERE id = ?", balance, id);
  }
}
