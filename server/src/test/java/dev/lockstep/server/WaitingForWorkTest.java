package dev.lockstep.server;

import static dev.lockstep.server.Workbench.job;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Callers that wait for jobs, and what becomes of them when they, or their node, go away. */
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
      waiting = waiting(() -> there.claim(1, 30, 60));
      awaitAskedFor("stopping");
    }
    assertThat(waiting.get()).isEmpty();
  }

  @Test
  void whoeverWaitsIsWokenByTheNextJobAndHoldsNoThread() throws Exception {
    Workbench bench = new Workbench(server.service(), "woken");
    int waiters = 200;
    List<CompletableFuture<List<JsonObject>>> waiting = new ArrayList<>();
    for (int i = 0; i < waiters; i++) {
      waiting.add(waiting(() -> bench.claim(1, Workbench.LONG_SECONDS, 60)));
    }
    // All workers of the server are free for others: far more wait than there are threads.
    for (int i = 0; i < 20; i++) {
      server.operator().get("/v1/jobs?queue=" + bench.queue()).expect(200);
    }
    for (int i = 0; i < waiters; i += 50) {
      JsonObject[] some = new JsonObject[50];
      for (int n = 0; n < some.length; n++) {
        some[n] = job(i + n);
      }
      bench.enqueue(some);
    }
    List<Object> got = new ArrayList<>();
    for (CompletableFuture<List<JsonObject>> one : waiting) {
      List<JsonObject> claims = one.get();
      assertThat(claims).hasSize(1);
      got.add(Workbench.payload(claims.get(0)));
    }
    assertThat(got).hasSize(waiters).doesNotHaveDuplicates();
  }

  @Test
  void whoeverWaitsInVainIsToldSo() throws Exception {
    Workbench bench = new Workbench(server.service(), "in-vain");
    assertThat(bench.claim(1, 30, 1)).isEmpty();
    // A lane that goes on, and a job whose time comes, wake whoever waits.
    bench.enqueue(job(1).put("lane", "a"), job(2).put("lane", "a"));
    JsonObject first = bench.claimOne();
    CompletableFuture<List<JsonObject>> second = waiting(() -> bench.claim(1, 30, 60));
    bench.complete(first).expect(200);
    assertThat(Workbench.payload(second.get().get(0))).isEqualTo(2);
  }

  /** On a thread of its own, however many there are. */
  private static CompletableFuture<List<JsonObject>> waiting(Callable<List<JsonObject>> claim) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return claim.call();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        },
        command -> new Thread(command, "waits-for-work").start());
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
