package dev.lockstep.server;

import static dev.lockstep.server.Workbench.job;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What becomes of callers that wait for jobs when they, or their node, go away. */
@Timeout(120)
class WaitingForWorkTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @Test
  void whoeverHangsUpTakesNoJobWithIt() throws Exception {
    Client client = server.service();
    Workbench bench = new Workbench(client, "hung-up");
    URI url = URI.create(server.url());
    try (Socket socket = new Socket(url.getHost(), url.getPort())) {
      String body = "{\"max\":10,\"leaseSeconds\":3000,\"waitSeconds\":60}";
      String request =
          "POST /v1/queues/hung-up/claims HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
              + client.key().orElseThrow()
              + "\r\nContent-Type: application/json\r\nContent-Length: "
              + body.length()
              + "\r\n\r\n"
              + body;
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().flush();
      awaitAskedFor("hung-up");
    }
    bench.enqueue(job(1));
    List<JsonObject> claims = bench.claim(1, 30, 60);
    assertThat(claims).hasSize(1);
    assertThat(claims.get(0).getJsonObject("job").getInteger("attempt")).isEqualTo(1);
  }

  @Test
  void aServerThatStopsLetsNobodyWait() throws Exception {
    Client here = server.service();
    CompletableFuture<List<JsonObject>> waiting;
    try (Server second = server.start(false)) {
      Workbench there = new Workbench(new Client(second.url(), here.key()), "stopping");
      waiting =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return there.claim(1, 30, 60);
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              });
      awaitAskedFor("stopping");
    }
    assertThat(waiting.get()).isEmpty();
  }

  private static void awaitAskedFor(String queue) throws Exception {
    Await.until(
        "somebody waits",
        () ->
            server
                    .database()
                    .queryLong(
                        "SELECT count(*) FROM lockstep.job_claim_queue WHERE queue = ?", queue)
                == 1);
  }
}
