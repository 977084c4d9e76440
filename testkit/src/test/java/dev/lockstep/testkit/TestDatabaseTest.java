package dev.lockstep.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TestDatabaseTest {

  @RegisterExtension static final TestDatabase migrated = TestDatabase.migrated().withPoolSize(2);
  @RegisterExtension static final TestDatabase empty = TestDatabase.empty();

  @Test
  void aMigratedDatabaseHasTheTablesAndTheirHistoryInTheirSchema() {
    assertThat(migrated.queryLong("SELECT count(*) FROM lockstep.probe WHERE id = ?", 1L)).isZero();
    assertThat(
            migrated.queryLong(
                "SELECT count(*) FROM lockstep.flyway_schema_history WHERE success AND version = '001'"))
        .isEqualTo(1);
  }

  @Test
  void anEmptyDatabaseHasNothing() {
    assertThat(empty.queryLong("SELECT count(*) FROM pg_namespace WHERE nspname = 'lockstep'"))
        .isZero();
  }

  @Test
  void databasesOfOneJvmShareAServerAndNothingElse() {
    assertThat(migrated.server()).isSameAs(empty.server());
    assertThat(migrated.url()).isNotEqualTo(empty.url());
    migrated.execute("CREATE TABLE mine (id int); INSERT INTO mine VALUES (1), (2)");
    assertThat(migrated.query("SELECT id FROM mine ORDER BY id", row -> row.getInt(1)))
        .containsExactly(1, 2);
    assertThatThrownBy(() -> empty.queryLong("SELECT count(*) FROM mine"))
        .isInstanceOf(IllegalStateException.class)
        .cause()
        .isInstanceOfSatisfying(
            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42P01"));
  }

  @Test
  void thePoolHasTheSizeAskedFor() throws SQLException {
    assertThat(
            migrated
                .dataSource()
                .unwrap(com.zaxxer.hikari.HikariDataSource.class)
                .getMaximumPoolSize())
        .isEqualTo(2);
    try (Connection one = migrated.connection();
        Connection two = migrated.connection()) {
      assertThat(one).isNotSameAs(two);
    }
  }

  @Test
  void theDatabaseEndsWithItsClassWhoeverIsStillConnected() throws Exception {
    TestDatabase brief = TestDatabase.empty();
    assertThatThrownBy(brief::url).isInstanceOf(IllegalStateException.class);
    brief.open();
    String name = brief.name();
    try (Connection left = brief.connection()) {
      brief.end();
      assertThat(left.isValid(10)).isFalse();
    }
    assertThat(empty.queryLong("SELECT count(*) FROM pg_database WHERE datname = ?", name))
        .isZero();
  }

  @Nested
  class Inside {
    @Test
    void aNestedClassUsesItsOutersDatabase() {
      assertThat(empty.queryLong("SELECT 1")).isEqualTo(1);
    }
  }
}
