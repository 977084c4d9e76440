package dev.lockstep.server;

import static dev.lockstep.server.Workbench.job;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Callers that wait for jobs, and what becomes of them when they, or their node, go away. */
@Timeout(120)
class WaitingForWorkTest {
  /** Locks are waited for long enough for everything that a test does meanwhile. */
  @RegisterExtension
  static final RunningServer server =
      new RunningServer()
          .with("LOCKSTEP_LOCK_TIMEOUT", "20s")
          .with("LOCKSTEP_STATEMENT_TIMEOUT", "25s");

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
  void aKeyThatIsRevokedWhileItWaitsGetsNoJob() throws Exception {
    Client operator = server.operator();
    JsonObject key =
        operator
            .post("/v1/keys", new JsonObject().put("role", "service").put("name", "waits"))
            .expect(201);
    Client client = new Client(server.url(), Optional.of(key.getString("key")));
    CompletableFuture<Client.Reply> waiting =
        client.begin(
            Duration.ofSeconds(60),
            "POST",
            "/v1/queues/revoked/claims",
            "",
            new JsonObject().put("leaseSeconds", 3_000).put("waitSeconds", 60));
    awaitAskedFor("revoked");
    operator.delete("/v1/keys/" + key.getString("id")).expect(200);
    Workbench bench = new Workbench(operator, "revoked");
    bench.enqueue(job(1));

    waiting.get().expectProblem(401, "unauthorized");
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

  @Test
  void aJobOfOneQueueWakesNobodyWhoWaitsAtAnother() throws Exception {
    Client client = server.service();
    List<CompletableFuture<List<JsonObject>>> waiting = waitAt(client, "quiet", 20);
    Workbench busy = new Workbench(client, "busy");

    long began = System.nanoTime();
    double before = claimTransactions();
    for (int i = 0; i < 60; i++) {
      busy.enqueue(job(i));
    }
    double asked = claimTransactions() - before;
    double seconds = (System.nanoTime() - began) / 1e9;

    // A poll per queue and second. Woken by each job, they would ask a thousand times a second.
    assertThat(asked).isLessThan(20 * (seconds + 2));
    for (int i = 0; i < waiting.size(); i++) {
      new Workbench(client, "quiet" + i).enqueue(job(i));
      assertThat(waiting.get(i).get()).hasSize(1);
    }
  }

  @Test
  void queuesThatWaitForALockLeaveThreadsToBuyers() throws Exception {
    String campaign = server.drop(5, null);
    Client client = server.service();
    List<CompletableFuture<List<JsonObject>>> waiting = waitAt(client, "locked", 20);
    try (Connection other = server.database().connection();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute(
          "SELECT 1 FROM lockstep.job_claim_queue WHERE queue LIKE 'locked%' FOR UPDATE");
      Await.until("claims wait for locks", () -> lockWaits().size() >= 4);
      List<String> waits = lockWaits();
      for (int i = 0; i < 8; i++) {
        server.anyone().get("/v1/campaigns/" + campaign).expect(200);
        server.operator().buyOne(campaign, "buyer " + i).expect(i < 5 ? 201 : 409);
      }
      // They wait still, the same, and no others: half of the threads.
      assertThat(lockWaits()).hasSize(4).isEqualTo(waits);
      other.rollback();
    }
    for (int i = 0; i < waiting.size(); i++) {
      new Workbench(client, "locked" + i).enqueue(job(i));
    }
    // Those that waited for their lock for too long were told so.
    CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new))
        .exceptionally(e -> null)
        .get();
  }

  /** The sessions that wait for the lock of a queue, and since when. */
  private static List<String> lockWaits() {
    return server
        .database()
        .query(
            """
            SELECT pid || ' ' || query_start FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
              AND query LIKE '%job_claim_queue%' ORDER BY pid""",
            row -> row.getString(1));
  }

  /** One at each of so many queues. */
  private static List<CompletableFuture<List<JsonObject>>> waitAt(
      Client client, String name, int queues) throws Exception {
    List<CompletableFuture<List<JsonObject>>> waiting = new ArrayList<>();
    for (int i = 0; i < queues; i++) {
      Workbench bench = new Workbench(client, name + i);
      waiting.add(waiting(() -> bench.claim(1, 30, 60)));
      awaitAskedFor(name + i);
    }
    return waiting;
  }

  private static double claimTransactions() throws Exception {
    return new Figures(server.operator())
        .of(
            "lockstep_database_transaction_duration_seconds_count"
                + "{outcome=\"committed\",transaction=\"job claims\"}");
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
