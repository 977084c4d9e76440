package dev.lockstep.server.database;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Await;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class SchemaScriptsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final String SCHEMA = "lockstep_server";
  private static final String[] LOCATIONS = {"classpath:db/server", "classpath:db/gateway"};

  /**
   * A pg_dump, or somebody's report, keeps a table for long while nodes of the former release sell.
   */
  @Test
  void aScriptThatWaitsForATableLetsOthersPass() throws Exception {
    Flyway.configure()
        .dataSource(database.dataSource())
        .defaultSchema(SCHEMA)
        .locations(LOCATIONS)
        .target("226")
        .load()
        .migrate();
    try (Connection reader = database.connection();
        Connection buyer = database.connection()) {
      reader.setAutoCommit(false);
      execute(reader, "SELECT count(*) FROM lockstep_server.purchase");
      FutureTask<Integer> upgrade =
          new FutureTask<>(() -> new SchemaScripts(database.dataSource(), SCHEMA, LOCATIONS).run());
      new Thread(upgrade, "upgrade").start();
      Await.until(
          "it waits",
          () ->
              database.queryLong(
                      "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                          + " AND cardinality(pg_blocking_pids(pid)) > 0")
                  > 0);

      execute(buyer, "SET lock_timeout = '3s'");
      execute(buyer, "SELECT count(*) FROM lockstep_server.purchase");
      execute(buyer, "RESET lock_timeout");
      assertThat(upgrade.isDone()).isFalse();

      reader.rollback();
      assertThat(upgrade.get(60, TimeUnit.SECONDS)).isPositive();
    }
    assertThat(database.query("SHOW lock_timeout", row -> row.getString(1)))
        .as("nothing stays with the pool's connections")
        .containsExactly("0");
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
