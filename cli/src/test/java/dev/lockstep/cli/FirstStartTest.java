package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client;
import dev.lockstep.testkit.TestDatabase;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The first start on a database, and the second. */
@Timeout(120)
class FirstStartTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final String KEY_LINE = "Operator key: ";

  @Test
  void theOperatorKeyIsPrintedOnceAndTheSamplesAreThere() throws Exception {
    String url = database.url() + "?user=" + database.user() + "&password=" + database.password();
    Map<String, String> environment = Map.of("LOCKSTEP_DATABASE_URL", url, "LOCKSTEP_PORT", "0");
    String key;
    try (ServerProcess first = ServerProcess.start(environment, "up")) {
      String address = first.awaitReady();
      JsonObject campaigns = new Client(address, Optional.empty()).get("/v1/campaigns").expect(200);
      assertThat(campaigns.getJsonArray("items"))
          .extracting(item -> ((JsonObject) item).getString("kind"))
          .containsExactly("triangle", "drop");
      assertThat(campaigns.getJsonArray("items"))
          .allSatisfy(
              item -> assertThat(((JsonObject) item).getString("status")).isEqualTo("published"));
      assertThat(first.terminate()).isZero();
      List<String> output = first.output();
      assertThat(output).hasSize(2);
      assertThat(output.get(1)).startsWith(KEY_LINE);
      key = output.get(1).substring(KEY_LINE.length());
      assertThat(first.errors()).noneMatch(line -> line.contains(key));
    }
    try (ServerProcess second = ServerProcess.start(environment, "up")) {
      String address = second.awaitReady();
      new Client(address, Optional.of(key)).get("/v1/keys").expect(200);
      assertThat(second.terminate()).isZero();
      assertThat(second.output()).hasSize(1);
    }
    assertThat(database.queryLong("SELECT count(*) FROM lockstep_server.campaign")).isEqualTo(2);
  }

  @Test
  void aBindThatOthersCanReachNeedsAConfiguredKey() throws Exception {
    try (ServerProcess server = ServerProcess.start("up", "--host", "0.0.0.0", "--port", "0")) {
      assertThat(server.awaitExit()).isEqualTo(2);
      assertThat(server.errors())
          .singleElement()
          .asString()
          .contains("--host 0.0.0.0", "LOCKSTEP_OPERATOR_KEY");
    }
  }
}
