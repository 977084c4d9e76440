package dev.lockstep.cli;

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

      // The server looks twice a second; what it saw last holds until then.
      HttpResponse<String> answer = awaitReadiness(address, 503);
      assertThat(answer.body()).contains("https://lockstep.dev/problems/not-ready");
      assertThat(ServerProcess.get(address + "/healthz").statusCode()).isEqualTo(200);
      assertThat(ServerProcess.get(address + "/status").body())
          .contains("The database does not answer.");

      database.server().restart();
      assertThat(awaitReadiness(address, 200).body()).contains("ready");
    }
  }

  /** Asks until the answer has this status; the test's time-out is the bound. */
  private static HttpResponse<String> awaitReadiness(String address, int status) throws Exception {
    HttpResponse<String> answer = ServerProcess.get(address + "/readyz");
    while (answer.statusCode() != status) {
      assertThat(answer.statusCode()).isIn(200, 503);
      answer = ServerProcess.get(address + "/readyz");
    }
    return answer;
  }

  private static String credentials() {
    return "?user=" + database.user() + "&password=" + database.password();
  }
}
