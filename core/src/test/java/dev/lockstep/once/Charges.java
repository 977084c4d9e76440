package dev.lockstep.once;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;

/** The effect that must happen once: a card is charged. Every charge has a number of its own. */
final class Charges {
  private final TestDatabase database;

  Charges(TestDatabase database) {
    this.database = database;
    database.execute(
        """
        CREATE TABLE IF NOT EXISTS charge (number bigserial, reference text NOT NULL);
        TRUNCATE charge;
        TRUNCATE lockstep.once""");
  }

  /** Charges; who gets the same answer has been told of the same charge. */
  String charge(Connection connection, String reference) throws SQLException {
    return "charge "
        + Sql.query(
            connection, "INSERT INTO charge (reference) VALUES (?) RETURNING number", reference);
  }

  long count(String reference) {
    return database.queryLong("SELECT count(*) FROM charge WHERE reference = ?", reference);
  }

  long count() {
    return database.queryLong("SELECT count(*) FROM charge");
  }
}
