package dev.lockstep.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * What a careful team writes by hand: accounts with a floor, one row per transfer, two entries with
 * running balance and version; one transaction per transfer, accounts always in the order of their
 * ids. No second phase, no linking; a repeated key fails.
 */
final class TransferFlow {
  /** How a transfer is made. */
  enum Way {
    FOR_UPDATE("FOR UPDATE in id order"),
    CONDITIONAL_UPDATE("conditional UPDATE"),
    FUNCTION("one SQL function");

    private final String label;

    Way(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }
  }

  private static final long FLOOR = -1_000_000_000_000L;

  private static final String LOCK =
      "SELECT id, balance, version FROM %s.account WHERE id IN (?, ?) ORDER BY id FOR UPDATE";
  private static final String SET = "UPDATE %s.account SET balance = ?, version = ? WHERE id = ?";
  private static final String CHANGE =
      """
      UPDATE %s.account SET balance = balance + ?, version = version + 1
      WHERE id = ? AND balance + ? >= floor RETURNING balance, version""";
  private static final String TRANSFER = "INSERT INTO %s.transfer VALUES (?, ?, ?, ?, now())";
  private static final String ENTRIES =
      "INSERT INTO %s.entry VALUES (?, ?, ?, ?, ?, now()), (?, ?, ?, ?, ?, now())";
  private static final String CALL = "SELECT %s.move(?, ?, ?, ?)";

  private final BenchDatabase database;
  private final DataSource pool;
  private final String schema;
  private final Way way;

  private TransferFlow(BenchDatabase database, String schema, Way way) {
    this.database = database;
    this.pool = database.pool();
    this.schema = schema;
    this.way = way;
  }

  /** Creates its own tables, so that no contender pays for another's rows. */
  static TransferFlow create(BenchDatabase database, String schema, Way way, int accounts)
      throws SQLException {
    database.execute(
        """
        CREATE SCHEMA %1$s;
        CREATE TABLE %1$s.account (
          id bigint PRIMARY KEY, floor bigint NOT NULL, balance bigint NOT NULL,
          version bigint NOT NULL, CHECK (balance >= floor)) WITH (fillfactor = 50);
        CREATE TABLE %1$s.transfer (
          key uuid PRIMARY KEY, source bigint NOT NULL, target bigint NOT NULL,
          amount bigint NOT NULL, at timestamptz NOT NULL);
        CREATE TABLE %1$s.entry (
          account bigint NOT NULL, version bigint NOT NULL, transfer uuid NOT NULL,
          amount bigint NOT NULL, balance bigint NOT NULL, at timestamptz NOT NULL,
          PRIMARY KEY (account, version));
        INSERT INTO %1$s.account SELECT i, %2$d, 0, 0 FROM generate_series(1, %3$d) i;
        """
            .formatted(schema, FLOOR, accounts));
    database.execute(function(schema));
    return new TransferFlow(database, schema, way);
  }

  private static String function(String schema) {
    return """
        CREATE FUNCTION %1$s.move(k uuid, s bigint, t bigint, m bigint) RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
          sb bigint; sv bigint; tb bigint; tv bigint;
        BEGIN
          PERFORM 1 FROM %1$s.account WHERE id IN (s, t) ORDER BY id FOR UPDATE;
          UPDATE %1$s.account SET balance = balance - m, version = version + 1
            WHERE id = s AND balance - m >= floor RETURNING balance, version INTO sb, sv;
          IF NOT FOUND THEN RAISE EXCEPTION 'insufficient funds'; END IF;
          UPDATE %1$s.account SET balance = balance + m, version = version + 1
            WHERE id = t RETURNING balance, version INTO tb, tv;
          INSERT INTO %1$s.transfer VALUES (k, s, t, m, now());
          INSERT INTO %1$s.entry VALUES (s, sv, k, -m, sb, now()), (t, tv, k, m, tb, now());
        END $$"""
        .formatted(schema);
  }

  void move(UUID key, long from, long to, long amount) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      if (way == Way.FUNCTION) {
        Sql.run(connection, CALL.formatted(schema), key, from, to, amount);
        return;
      }
      connection.setAutoCommit(false);
      long[][] after =
          way == Way.FOR_UPDATE
              ? lockAndSet(connection, from, to, amount)
              : change(connection, from, to, amount);
      Sql.run(connection, TRANSFER.formatted(schema), key, from, to, amount);
      Sql.run(
          connection,
          ENTRIES.formatted(schema),
          from,
          after[0][1],
          key,
          -amount,
          after[0][0],
          to,
          after[1][1],
          key,
          amount,
          after[1][0]);
      connection.commit();
      connection.setAutoCommit(true);
    }
  }

  /** Returns balance and version after the transfer: first the source, then the target. */
  private long[][] lockAndSet(Connection connection, long from, long to, long amount)
      throws SQLException {
    long[][] after = new long[2][];
    try (PreparedStatement lock = connection.prepareStatement(LOCK.formatted(schema))) {
      lock.setLong(1, from);
      lock.setLong(2, to);
      try (ResultSet row = lock.executeQuery()) {
        while (row.next()) {
          boolean source = row.getLong(1) == from;
          long balance = row.getLong(2) + (source ? -amount : amount);
          after[source ? 0 : 1] = new long[] {balance, row.getLong(3) + 1};
        }
      }
    }
    if (after[0][0] < FLOOR) {
      throw new IllegalStateException("Insufficient funds");
    }
    String set = SET.formatted(schema);
    Sql.run(connection, set, after[0][0], after[0][1], from);
    Sql.run(connection, set, after[1][0], after[1][1], to);
    return after;
  }

  private long[][] change(Connection connection, long from, long to, long amount)
      throws SQLException {
    long[][] after = new long[2][];
    boolean sourceFirst = from < to;
    after[sourceFirst ? 0 : 1] =
        sourceFirst ? changeOne(connection, from, -amount) : changeOne(connection, to, amount);
    after[sourceFirst ? 1 : 0] =
        sourceFirst ? changeOne(connection, to, amount) : changeOne(connection, from, -amount);
    return after;
  }

  private long[] changeOne(Connection connection, long account, long amount) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(CHANGE.formatted(schema))) {
      statement.setLong(1, amount);
      statement.setLong(2, account);
      statement.setLong(3, amount);
      try (ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          throw new IllegalStateException("Insufficient funds");
        }
        return new long[] {row.getLong(1), row.getLong(2)};
      }
    }
  }

  /** Transfers made, if the books balance; -1 if they do not. */
  long transfers() throws SQLException {
    return database.number(
        """
        SELECT CASE WHEN a.balance = 0 AND a.version = 2 * t.n AND e.n = 2 * t.n THEN t.n ELSE -1 END
        FROM (SELECT count(*) n FROM %1$s.transfer) t,
          (SELECT count(*) n FROM %1$s.entry) e,
          (SELECT sum(balance) balance, sum(version) version FROM %1$s.account) a"""
            .formatted(schema));
  }
}
