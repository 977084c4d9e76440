package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;

/** Statements that the database itself must refuse. */
final class Refused {
  private Refused() {}

  static SQLException statement(TestDatabase database, String sql) throws SQLException {
    try (Connection connection = database.connection()) {
      return catchThrowableOfType(SQLException.class, () -> Sql.execute(connection, sql));
    }
  }
}
