package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The embedded database ends under a server that lives. */
@Timeout(180)
class LostDatabaseTest {
  @SuppressWarnings("NullAway.Init")
  private Path data;

  @BeforeEach
  void chooseFolder(@TempDir Path folder) {
    data = folder.resolve("data");
  }

  @AfterEach
  void nothingIsLeftRunning() {
    ServerProcess.stopAbandoned(data);
  }

  @Test
  void aDatabaseThatWasKilledComesBackByItself() throws Exception {
    try (ServerProcess server = ServerProcess.up(data)) {
      String url = server.awaitReady();
      killPostmaster();

      server.awaitError(line -> line.contains("PostgreSQL runs again"));

      Await.until("it is ready", () -> ServerProcess.get(url + "/readyz").statusCode() == 200);
      assertThat(ServerProcess.get(url + "/v1/campaigns").statusCode()).isEqualTo(200);
      assertThat(server.terminate()).isZero();
      // Every connection was lost; that is one event, not a stack trace for each.
      assertThat(server.errors()).noneMatch(line -> line.startsWith("\tat "));
    }
  }

  @Test
  void aDatabaseThatCannotComeBackEndsTheServerWithItsReason() throws Exception {
    try (ServerProcess server = ServerProcess.up(data)) {
      server.awaitReady();
      hideControlFile();
      killPostmaster();

      assertThat(String.join("\n", server.errors()))
          .contains("lockstep: PostgreSQL ended and could not be started again")
          .contains(data.toRealPath().resolve("postgres.log").toString())
          .contains("pg_control");
      assertThat(server.awaitExit()).isEqualTo(1);
    }
  }

  @Test
  void aServerWithoutItsDatabaseSaysSoAndStopsWhenAsked() throws Exception {
    try (ServerProcess server = ServerProcess.up(data)) {
      String url = server.awaitReady();
      hideControlFile();
      killPostmaster();

      server.awaitError(line -> line.contains("does not answer"));
      assertThat(ServerProcess.get(url + "/healthz").statusCode()).isEqualTo(200);
      assertThat(ServerProcess.get(url + "/readyz").statusCode()).isEqualTo(503);
      var answer = ServerProcess.get(url + "/v1/campaigns");
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.headers().firstValue("Retry-After")).isPresent();
      assertThat(answer.body()).contains("database-gone");
      assertThat(ServerProcess.get(url + "/status").body())
          .contains("The database does not answer.");
      assertThat(ServerProcess.get(url + "/metrics").body())
          .contains("lockstep_database_trouble{reason=\"database-gone\"} 1.0");

      server.askToStop();
      assertThat(server.errors()).noneMatch(line -> line.contains("did not stop within"));
      assertThat(server.awaitExit()).isZero();
    }
  }

  @Test
  void aStartThatFailsShowsTheEndOfTheDatabasesLog() throws Exception {
    try (ServerProcess server = ServerProcess.up(data)) {
      server.awaitReady();
      server.terminate();
    }
    hideControlFile();
    try (ServerProcess server = ServerProcess.up(data)) {
      assertThat(server.awaitExit()).isEqualTo(1);
      List<String> said = server.errors();
      assertThat(said)
          .anyMatch(line -> line.startsWith("lockstep: PostgreSQL did not start in "))
          .anyMatch(line -> line.contains("pg_control"))
          .anyMatch(line -> line.contains("then start again"));
    }
  }

  private void killPostmaster() throws IOException {
    long pid =
        Long.parseLong(Files.readAllLines(ServerProcess.postmasterFile(data)).get(0).strip());
    ProcessHandle.of(pid).orElseThrow().destroyForcibly();
  }

  /** Without it no start works; nothing else is harmed. */
  private void hideControlFile() throws IOException {
    Path control = data.resolve("data/global/pg_control");
    Files.move(control, control.resolveSibling("pg_control.away"));
  }
}
