package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code up} on a PostgreSQL that somebody else runs. */
@Timeout(120)
class ExternalDatabaseTest {
  /** A server of its own, because one test takes it away. */
  @RegisterExtension static final TestDatabase database = TestDatabase.ownServer(false);

  @Test
  void theSameServerRunsOnTheUsersDatabase() throws Exception {
    database.execute("CREATE DATABASE shop");
    String url = database.server().url("shop") + credentials();
    try (ServerProcess server =
        ServerProcess.start(Map.of("LOCKSTEP_PORT", "0", "LOCKSTEP_DATABASE_URL", url), "up")) {
      String address = server.awaitReady();

      assertThat(ServerProcess.get(address + "/readyz").statusCode()).isEqualTo(200);
      assertThat(ServerProcess.get(address + "/status").body())
          .contains("your own", "/shop")
          .doesNotContain(database.password());
      assertThat(server.terminate()).isZero();
      assertThat(server.errors()).noneMatch(line -> line.contains(database.password()));
    }
  }

  @Test
  void aServerThatLosesItsDatabaseIsAliveButNotReadyUntilItReturns() throws Exception {
    // The crash comes right after the migrations; without waiting for the log they could be lost.
    database.execute("ALTER DATABASE " + database.name() + " SET synchronous_commit = on");
    try (ServerProcess server =
        ServerProcess.start(
            "up", "--port", "0", "--database-url", database.url() + credentials())) {
      String address = server.awaitReady();
      database.server().crash();

      HttpResponse<String> answer = ServerProcess.get(address + "/readyz");
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body()).contains("https://lockstep.dev/problems/not-ready");
      assertThat(ServerProcess.get(address + "/healthz").statusCode()).isEqualTo(200);
      assertThat(ServerProcess.get(address + "/status").body())
          .contains("The database does not answer.");

      database.server().restart();
      int status = 503;
      while (status == 503) {
        // The request itself waits for a connection, for as long as the pool does.
        status = ServerProcess.get(address + "/readyz").statusCode();
      }
      assertThat(status).isEqualTo(200);
    }
  }

  private static String credentials() {
    return "?user=" + database.user() + "&password=" + database.password();
  }
}
