package dev.lockstep.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.tx.Isolation;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The lab keeps to a database and a role of its own, and leaves neither behind. */
@Timeout(60)
class LabDatabaseTest {
  @RegisterExtension static final LabServer server = new LabServer();

  private static final String LABS =
      "SELECT (SELECT count(*) FROM pg_database WHERE datname LIKE 'lockstep_lab_%')"
          + " + (SELECT count(*) FROM pg_roles WHERE rolname LIKE 'lockstep_lab_%')";

  @Test
  void nothingIsMadeBeforeTheFirstRunAndAllIsGoneAfterTheLast() {
    server.matrix();
    long before = server.database.queryLong(LABS);
    try (Lab lab = server.newLab()) {
      assertThat(server.database.queryLong(LABS)).isEqualTo(before);
      lab.run(Lab.scenarios().get(0), Isolation.READ_COMMITTED, Variant.NAIVE);
      assertThat(server.database.queryLong(LABS)).isEqualTo(before + 2);
    }
    assertThat(server.database.queryLong(LABS)).isEqualTo(before);
  }

  @Test
  void aClosedLabOpensAgain() {
    Lab lab = server.newLab();
    for (int i = 0; i < 2; i++) {
      try (lab) {
        Timeline played = lab.run(Lab.scenarios().get(0), Isolation.READ_COMMITTED, Variant.NAIVE);
        assertThat(played.steps()).isNotEmpty();
      }
    }
  }

  /** What a process that was killed has left; a lab that is connected is left alone. */
  @Test
  void whatNobodyUsesIsRemovedByTheNextLab() throws Exception {
    server.lab().run(Lab.scenarios().get(0), Isolation.READ_COMMITTED, Variant.NAIVE);
    long alive = server.database.queryLong(LABS);
    LabDatabase.Opened abandoned = LabDatabase.create(server.config());
    abandoned.keeper().close();
    // The server notices a closed connection a moment after the client has closed it.
    awaitNobodyIn("lockstep_lab_", 1);
    assertThat(server.database.queryLong(LABS)).isEqualTo(alive + 2);

    LabDatabase.Opened next = LabDatabase.create(server.config());
    try {
      assertThat(server.database.queryLong(LABS)).isEqualTo(alive + 2);
    } finally {
      next.keeper().close();
      next.database().close();
    }
    assertThat(server.database.queryLong(LABS)).isEqualTo(alive);
  }

  @Test
  void theRoleIsBoundedAndMayLittle() throws Exception {
    LabDatabase.Opened opened = LabDatabase.create(server.config());
    try (Connection connection = opened.keeper();
        Statement statement = connection.createStatement()) {
      for (Map.Entry<String, String> setting :
          Map.of(
                  "statement_timeout", "10s",
                  "lock_timeout", "10s",
                  "idle_in_transaction_session_timeout", "15s",
                  "deadlock_timeout", "100ms",
                  "is_superuser", "off")
              .entrySet()) {
        var row = statement.executeQuery("SHOW " + setting.getKey());
        row.next();
        assertThat(row.getString(1)).as(setting.getKey()).isEqualTo(setting.getValue());
      }
      for (String forbidden :
          List.of(
              "CREATE TABLE public.t (id int)",
              "CREATE DATABASE more",
              "CREATE ROLE more",
              "SET deadlock_timeout = '1ms'",
              "COPY (SELECT 1) TO PROGRAM 'true'")) {
        assertThatThrownBy(() -> statement.execute(forbidden))
            .as(forbidden)
            .isInstanceOfSatisfying(
                SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42501"));
      }
      for (int i = 0; i < 5; i++) {
        opened.database().connect("another");
      }
      assertThatThrownBy(() -> opened.database().connect("one too many"))
          .isInstanceOfSatisfying(
              SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("53300"));
    } finally {
      opened.database().close();
    }
  }

  @Test
  void aUserThatMayNotMakeADatabaseIsToldSo() {
    server.database.execute("CREATE ROLE poor LOGIN PASSWORD 'poor'");
    try (Lab lab =
        new Lab(
            new LabConfig(
                server.database.server().url("postgres"),
                Map.of("user", "poor", "password", "poor")))) {
      assertThatThrownBy(
              () -> lab.run(Lab.scenarios().get(0), Isolation.READ_COMMITTED, Variant.NAIVE))
          .isInstanceOf(LabUnavailable.class)
          .hasMessageContaining("may create roles and databases");
    } finally {
      server.database.execute("DROP ROLE poor");
    }
  }

  private static void awaitNobodyIn(String prefix, int databases) throws InterruptedException {
    String idle =
        "SELECT count(*) FROM pg_database d WHERE d.datname LIKE '"
            + prefix
            + "%' AND NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.datname = d.datname)";
    while (server.database.queryLong(idle) < databases) {
      Thread.onSpinWait();
    }
  }
}
