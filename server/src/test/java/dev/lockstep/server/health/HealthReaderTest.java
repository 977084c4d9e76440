package dev.lockstep.server.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.Properties;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

class HealthReaderTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  @Test
  void aReplicaThatTheRoleMayNotSeeHasNoLagRatherThanNone() throws Exception {
    database.execute("CREATE ROLE shortsighted LOGIN PASSWORD 'x'");
    PGSimpleDataSource shortsighted = new PGSimpleDataSource();
    shortsighted.setUrl(database.url());
    shortsighted.setUser("shortsighted");
    shortsighted.setPassword("x");
    Properties asReplica = new Properties();
    asReplica.setProperty("user", database.user());
    asReplica.setProperty("password", database.password());
    asReplica.setProperty("replication", "database");
    asReplica.setProperty("preferQueryMode", "simple");
    asReplica.setProperty("assumeMinServerVersion", "14");

    try (Connection replica = DriverManager.getConnection(database.url(), asReplica)) {
      assertThat(replica.isValid(5)).isTrue();

      assertThat(read(shortsighted).replicas())
          .isNotEmpty()
          .allSatisfy(
              one -> {
                assertThat(one.lagSeconds()).isEmpty();
                assertThat(one.lagBytes()).isEmpty();
              });
      assertThat(read(database.dataSource()).replicas())
          .isNotEmpty()
          .allSatisfy(one -> assertThat(one.lagSeconds()).isPresent());
    } finally {
      database.execute("DROP ROLE shortsighted");
    }
  }

  private static HealthReport read(DataSource source) {
    return new HealthReader(
            new Transactor(source), new AttemptCounts(), () -> new PoolUse(0, 0, 0, 1))
        .read();
  }
}
