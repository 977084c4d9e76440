package dev.lockstep.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PostgresServerTest {

  private Path directory;

  @BeforeEach
  void setUp(@TempDir Path temporary) {
    directory = temporary;
  }

  @Test
  void startsAndAnswers() throws Exception {
    try (PostgresServer server = PostgresServer.start(tests())) {
      assertThat(server.url())
          .isEqualTo("jdbc:postgresql://127.0.0.1:" + server.port() + "/lockstep");
      assertThat(server.url("postgres")).endsWith(server.port() + "/postgres");
      assertThat(server.dataDirectory()).isEqualTo(directory.toRealPath().resolve("data"));
      assertThat(Sql.value(server, "SHOW server_version")).startsWith(server.majorVersion() + ".");
      assertThat(Sql.value(server, "SELECT current_database()")).isEqualTo("lockstep");
    }
  }

  @Test
  void nobodyGetsInWithoutThePassword() {
    try (PostgresServer server = PostgresServer.start(tests())) {
      assertThat(server.password()).hasSizeGreaterThan(30);
      assertRefused(server, server.password() + "x");
      assertRefused(server, "");
    }
  }

  private static void assertRefused(PostgresServer server, String password) {
    assertThatThrownBy(
            () -> DriverManager.getConnection(server.url(), server.user(), password).close())
        .isInstanceOfSatisfying(
            SQLException.class, e -> assertThat(e.getSQLState()).isIn("28P01", "28000", "08004"));
  }

  @Test
  void passwordAndDataCanBeReadByTheirOwnerOnly() throws IOException {
    Path fresh = directory.resolve("below/fresh");
    try (PostgresServer server = PostgresServer.start(PostgresConfig.forTests(fresh))) {
      assertThat(permissions(fresh)).isEqualTo("rwx------");
      assertThat(permissions(fresh.resolve("password"))).isEqualTo("rw-------");
      assertThat(permissions(server.dataDirectory())).isEqualTo("rwx------");
      assertThat(Files.readString(fresh.resolve("postgres.log"))).doesNotContain(server.password());
    }
  }

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void aDurableServerReallyIs() throws Exception {
    try (PostgresServer server = PostgresServer.start(durable())) {
      assertThat(Sql.value(server, "SHOW fsync")).isEqualTo("on");
      assertThat(Sql.value(server, "SHOW full_page_writes")).isEqualTo("on");
      assertThat(Sql.value(server, "SHOW synchronous_commit")).isEqualTo("on");
      assertThat(Sql.value(server, "SHOW data_checksums")).isEqualTo("on");
      assertThat(Sql.value(server, "SHOW listen_addresses")).isEqualTo("127.0.0.1");
      assertThat(Sql.value(server, "SHOW unix_socket_directories")).isEmpty();
      assertThat(Sql.value(server, "SHOW server_encoding")).isEqualTo("UTF8");
      assertThat(Sql.value(server, "SHOW max_connections")).isEqualTo("200");
      assertThat(
              Sql.value(
                  server, "SELECT pg_size_bytes(current_setting('shared_buffers')) / 1024 / 1024"))
          .satisfies(mib -> assertThat(Integer.parseInt(mib)).isBetween(128, 1024));
    }
  }

  @Test
  void aTestServerTradesDurabilityForSpeed() throws Exception {
    try (PostgresServer server = PostgresServer.start(tests())) {
      assertThat(Sql.value(server, "SHOW fsync")).isEqualTo("off");
      assertThat(Sql.value(server, "SHOW synchronous_commit")).isEqualTo("off");
    }
  }

  @Test
  void theUsersSettingsWinAndMayContainAnything() throws Exception {
    PostgresConfig config =
        tests()
            .withSetting("work_mem", "9MB")
            .withSetting("lockstep.note", "it's a back\\slash # here");
    try (PostgresServer server = PostgresServer.start(config)) {
      assertThat(Sql.value(server, "SHOW work_mem")).isEqualTo("9MB");
      assertThat(Sql.value(server, "SHOW lockstep.note")).isEqualTo("it's a back\\slash # here");
    }
  }

  @Test
  void dataAndPasswordSurviveStopAndStart() throws Exception {
    PostgresServer first = PostgresServer.start(tests());
    Sql.execute(first, "CREATE TABLE kept AS SELECT 42 AS answer");
    first.stop();
    try (PostgresServer second = PostgresServer.start(tests())) {
      assertThat(Sql.value(second, "SELECT answer FROM kept")).isEqualTo("42");
      assertThat(second.password()).isEqualTo(first.password());
    }
  }

  @Test
  void aDiscardedServerLeavesNoFolder() throws Exception {
    Path fresh = directory.resolve("fresh");
    PostgresServer server = PostgresServer.start(PostgresConfig.forTests(fresh));
    Sql.execute(server, "CREATE TABLE forgotten AS SELECT 42 AS answer");
    server.discard();
    assertThat(fresh).doesNotExist();
    server.discard();
  }

  @Test
  void whatWasCommittedSurvivesACrashAndTheRestDoesNot() throws Exception {
    try (PostgresServer server = PostgresServer.start(durable())) {
      int port = server.port();
      Sql.execute(server, "CREATE TABLE kept AS SELECT 42 AS answer");
      try (Connection open = Sql.connect(server)) {
        open.setAutoCommit(false);
        open.createStatement().execute("INSERT INTO kept VALUES (43)");

        server.crash();
        assertThatThrownBy(open::commit).isInstanceOf(SQLException.class);
      }
      assertThatThrownBy(() -> Sql.value(server, "SELECT 1")).isInstanceOf(SQLException.class);

      server.restart();
      assertThat(server.port()).isEqualTo(port);
      assertThat(Sql.value(server, "SELECT string_agg(answer::text, ',') FROM kept"))
          .isEqualTo("42");
    }
  }

  @Test
  void restartsWhileRunningAndAfterAStop() throws Exception {
    try (PostgresServer server = PostgresServer.start(tests())) {
      int port = server.port();
      server.restart();
      server.stop();
      server.restart();
      assertThat(server.port()).isEqualTo(port);
      assertThat(Sql.value(server, "SELECT 1")).isEqualTo("1");
    }
  }

  @Test
  void stoppingDisconnectsClientsAndMayBeRepeated() throws Exception {
    PostgresServer server = PostgresServer.start(tests());
    try (Connection open = Sql.connect(server)) {
      server.stop();
      server.stop();
      server.close();
      assertThat(open.isValid(10)).isFalse();
    }
    assertThat(server.dataDirectory().resolve("postmaster.pid")).doesNotExist();
  }

  @Test
  void anInterruptedThreadStopsItAllTheSame() {
    PostgresServer server = PostgresServer.start(tests());
    Thread.currentThread().interrupt();
    server.close();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(server.dataDirectory().resolve("postmaster.pid")).doesNotExist();
  }

  @Test
  void theServerIsOutOfReachOfTheTerminal() throws IOException {
    assumeTrue(Files.isDirectory(Path.of("/proc/self")), "reads /proc");
    try (PostgresServer server = PostgresServer.start(tests())) {
      long pid = Postgres.pid(server);
      assertThat(session(pid)).isNotEqualTo(session(ProcessHandle.current().pid()));
    }
  }

  /**
   * The sixth field; the second, a name in brackets, contains no space for the programs asked
   * about.
   */
  private static String session(long pid) throws IOException {
    return Files.readString(Path.of("/proc/" + pid + "/stat")).split(" ", -1)[5];
  }

  private PostgresConfig tests() {
    return PostgresConfig.forTests(directory);
  }

  /** Durable, with the programs that other tests have unpacked. */
  private PostgresConfig durable() {
    return tests().withDurable(true);
  }
}
