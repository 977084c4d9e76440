package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.server.lifecycle.Version;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code up} on its embedded database, as a process. */
@Timeout(120)
class UpTest {
  /**
   * Shared by the tests, each of which starts and stops it: a new cluster takes longer than all
   * else.
   */
  @SuppressWarnings("NullAway.Init")
  @TempDir
  static Path folder;

  @SuppressWarnings("NullAway.Init")
  private Path data;

  @BeforeEach
  void chooseFolder() {
    data = folder.resolve("data with spaces");
  }

  @AfterEach
  void nothingIsLeftRunning() {
    ServerProcess.stopAbandoned(data);
  }

  @Test
  void aReadyServerShowsItselfAndAnswersItsProbes() throws Exception {
    try (ServerProcess server = ServerProcess.up(data)) {
      String url = server.awaitReady();

      HttpResponse<String> page = ServerProcess.get(url + "/status");
      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.body())
          .contains(
              "<h1>Lockstep</h1>",
              Version.CURRENT,
              "PostgreSQL 18",
              "embedded",
              "migrations applied");
      assertThat(page.headers().firstValue("Content-Security-Policy"))
          .hasValueSatisfying(
              policy -> assertThat(policy).contains("default-src 'none'").doesNotContain("unsafe"));
      assertThat(ServerProcess.get(url + "/").body()).contains("<h1>Sales</h1>");
      assertThat(ServerProcess.get(url + "/healthz").statusCode()).isEqualTo(200);
      assertThat(ServerProcess.get(url + "/readyz").statusCode()).isEqualTo(200);

      HttpResponse<String> answer = ServerProcess.get(url + "/nothing");
      assertThat(answer.statusCode()).isEqualTo(404);
      assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
      assertThat(answer.body())
          .contains("\"type\":\"https://lockstep.dev/problems/not-found\"", "\"status\":404");
    }
  }

  @Test
  void theReadyLineIsAllThatStandardOutputHolds() throws Exception {
    // With a key of the operator's choice none is made, and so none is shown.
    try (ServerProcess server =
        ServerProcess.start(
            Map.of("LOCKSTEP_OPERATOR_KEY", "chosen-by-the-operator"),
            "up",
            "--port",
            "0",
            "--data",
            data.toString())) {
      String url = server.awaitReady();
      server.terminate();
      assertThat(server.output()).containsExactly("Lockstep is ready on " + url);
    }
  }

  @Test
  void theDatabaseIsDurableAndAsksForAPassword() throws Exception {
    try (ServerProcess server = ServerProcess.up(data)) {
      server.awaitReady();
      try (Connection connection = ServerProcess.connect(data)) {
        for (String setting : new String[] {"fsync", "full_page_writes", "synchronous_commit"}) {
          assertThat(queryString(connection, "SHOW " + setting)).as(setting).isEqualTo("on");
        }
        assertThat(
                queryString(
                    connection,
                    "SELECT auth_method FROM pg_hba_file_rules WHERE type = 'host' LIMIT 1"))
            .isEqualTo("scram-sha-256");
      }
    }
  }

  @Test
  void committedDataSurvivesKillMinusNineAndAStop() throws Exception {
    try (ServerProcess first = ServerProcess.up(data)) {
      first.awaitReady();
      writeNote("killed");
      first.kill();
    }
    try (ServerProcess second = ServerProcess.up(data)) {
      second.awaitReady();
      assertNoteThere("killed");
      writeNote("stopped");
      assertThat(second.terminate()).isZero();
    }
    try (ServerProcess third = ServerProcess.up(data)) {
      third.awaitReady();
      assertNoteThere("stopped");
    }
  }

  @Test
  void sigtermStopsTheDatabaseTooAndIsNoFailure() throws Exception {
    try (ServerProcess server = ServerProcess.up(data)) {
      server.awaitReady();
      int port = ServerProcess.databasePort(data);

      assertThat(server.terminate()).isZero();

      assertThat(ServerProcess.postmasterFile(data)).doesNotExist();
      assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port).close())
          .isInstanceOf(ConnectException.class);
      assertThat(server.errors())
          .noneMatch(line -> line.contains("Exception") || line.startsWith("\tat "));
    }
  }

  @Test
  void sigtermDuringTheFirstStartLeavesNothingRunningAndTheNextStartWorks() throws Exception {
    Path fresh = folder.resolve("interrupted");
    try (ServerProcess server = ServerProcess.up(fresh)) {
      server.awaitError(line -> line.contains("Initialising"));
      assertThat(server.terminate()).isZero();
      assertThat(server.output()).isEmpty();
      assertThat(ServerProcess.postmasterFile(fresh)).doesNotExist();
    }
    try (ServerProcess next = ServerProcess.up(fresh)) {
      next.awaitReady();
    } finally {
      ServerProcess.stopAbandoned(fresh);
    }
  }

  @Test
  void aSecondUpOnLiveDataIsRefusedAndTheFirstGoesOn() throws Exception {
    try (ServerProcess first = ServerProcess.up(data);
        ServerProcess second = upAfterReady(first)) {
      assertThat(second.awaitExit()).isEqualTo(1);
      assertThat(second.output()).isEmpty();
      assertThat(second.errors())
          .singleElement()
          .asString()
          .startsWith("lockstep: ")
          .contains(data.toString(), "in use", String.valueOf(first.pid()));
      writeNote("still served");
      assertNoteThere("still served");
    }
  }

  @Test
  void aTakenPortIsRefusedBeforeAnyDataIsTouched() throws Exception {
    Path untouched = folder.resolve("untouched");
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = String.valueOf(taken.getLocalPort());
      try (ServerProcess server =
          ServerProcess.start("up", "--port", port, "--data", untouched.toString())) {
        assertThat(server.awaitExit()).isEqualTo(1);
        assertThat(server.errors())
            .singleElement()
            .asString()
            .contains("port " + port + " is taken", "--port");
      }
    }
    assertThat(untouched).doesNotExist();
  }

  @Test
  void aFolderThatCannotBeWrittenIsRefused() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "precious");
    try (ServerProcess server = ServerProcess.up(file)) {
      assertThat(server.awaitExit()).isEqualTo(1);
      assertThat(server.errors())
          .singleElement()
          .asString()
          .startsWith("lockstep: ")
          .contains(file.toString(), "--data");
    }
    assertThat(file).hasContent("precious");
  }

  private ServerProcess upAfterReady(ServerProcess first) throws Exception {
    first.awaitReady();
    return ServerProcess.up(data);
  }

  private void writeNote(String text) throws Exception {
    try (Connection connection = ServerProcess.connect(data);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS note (text text)");
      statement.execute("INSERT INTO note VALUES ('" + text + "')");
    }
  }

  private void assertNoteThere(String text) throws Exception {
    try (Connection connection = ServerProcess.connect(data)) {
      assertThat(queryString(connection, "SELECT count(*) FROM note WHERE text = '" + text + "'"))
          .isEqualTo("1");
    }
  }

  private static String queryString(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }
}
