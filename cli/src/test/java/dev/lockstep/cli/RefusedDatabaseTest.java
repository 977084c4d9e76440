package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A database that cannot be used is one line, without credentials, and a code that is not 0. */
@Timeout(120)
class RefusedDatabaseTest {
  private static final String SECRET = "hunter2";

  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  @Test
  void anotherKindOfUrl() {
    assertThat(refusal("postgres://me:" + SECRET + "@localhost/shop", 2))
        .contains("must start with jdbc:postgresql:");
  }

  @Test
  void credentialsBeforeTheHost() {
    assertThat(refusal("jdbc:postgresql://me:" + SECRET + "@localhost/shop", 2))
        .contains("credentials before the host");
  }

  @Test
  void aPortThatIsNone() {
    assertThat(refusal("jdbc:postgresql://localhost:99999/shop?password=" + SECRET, 2))
        .contains("not a URL");
  }

  @Test
  void nobodyAnswers() throws Exception {
    // Bound and never listening: the port is ours, so that nobody else can answer on it.
    try (Socket silent = new Socket()) {
      silent.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      String place = "127.0.0.1:" + silent.getLocalPort() + "/shop";
      assertThat(refusal("jdbc:postgresql://" + place + "?user=me&password=" + SECRET, 1))
          .contains("no database answers at " + place);
    }
  }

  @Test
  void theWrongPassword() {
    assertThat(refusal(database.url() + "?user=" + database.user() + "&password=" + SECRET, 1))
        .contains("refused the user or the password");
  }

  @Test
  void nothingElseIsSaidByTheProcess() throws Exception {
    String url = database.url() + "?user=" + database.user() + "&password=" + SECRET;
    try (ServerProcess server = ServerProcess.start("up", "--port", "0", "--database-url", url)) {
      assertThat(server.awaitExit()).isEqualTo(1);
      assertThat(server.output()).isEmpty();
      assertThat(theOneLineOf(server.errors())).contains("refused the user or the password");
    }
  }

  @Test
  void noPassword() {
    assertThat(refusal(database.url() + "?user=" + database.user(), 1)).contains("password");
  }

  @Test
  void noSuchDatabase() {
    String url = database.server().url("nowhere");
    assertThat(refusal(url + "?user=" + database.user() + "&password=" + database.password(), 1))
        .contains("there is no database", "nowhere")
        .doesNotContain(database.password());
  }

  @Test
  void aUserWhoMayNotCreateTheSchema() {
    database.execute("CREATE ROLE reader LOGIN PASSWORD '" + SECRET + "'");
    assertThat(refusal(database.url() + "?user=reader&password=" + SECRET, 1))
        .contains("may not create", "GRANT CREATE");
    assertNothingWritten();
  }

  @Test
  void aReadOnlyDatabase() {
    database.execute("CREATE ROLE standby SUPERUSER LOGIN PASSWORD '" + SECRET + "'");
    database.execute("ALTER ROLE standby SET default_transaction_read_only = on");
    assertThat(refusal(database.url() + "?user=standby&password=" + SECRET, 1))
        .contains("read-only");
    assertNothingWritten();
  }

  private static void assertNothingWritten() {
    assertThat(database.queryLong("SELECT count(*) FROM pg_namespace WHERE nspname = 'lockstep'"))
        .isZero();
  }

  private static String refusal(String url, int exitCode) {
    Ended ended = Ended.word("up", "--port", "0", "--database-url", url);
    assertThat(ended.code()).isEqualTo(exitCode);
    return theOneLineOf(ended.err().lines().toList());
  }

  private static String theOneLineOf(List<String> errors) {
    assertThat(errors).singleElement().asString().startsWith("lockstep: ").doesNotContain(SECRET);
    return errors.get(0);
  }
}
