package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.EveryRoute.Operation;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** However slow operators' reads are, buyers do not wait for them. */
@Timeout(180)
class SlowReportsTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  /** As many as may wait. */
  private static final int READS = 60;

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final String TABLE = "lockstep_server.job_action";
  private static final String REPORT = "/v1/job-actions";

  @Test
  void buyersAreServedWhileOperatorsReadsHang() throws Exception {
    String campaign = "/v1/campaigns/" + server.drop(10, null);
    Client known = server.buyer("known");
    try (Connection connection = server.database().connection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("LOCK TABLE " + TABLE + " IN ACCESS EXCLUSIVE MODE");
      List<CompletableFuture<Client.Reply>> reads = hangingReads(server.operator(), REPORT, TABLE);

      known.get(campaign).expect(200);
      assertThat(answered(reads)).as("reports that a buyer waited for").isLessThan(READS / 2);
      JsonObject order = Client.order("known", "pm_card_visa", Client.sku("A", 1));
      known.post(campaign + "/purchases", "p", order.copy().put("buyer", "known")).expect(201);
      known.get("/v1/purchases").expect(200);
      // A key that nobody has seen yet is looked up, and what operators change is changed.
      server.buyer("new").get("/v1/campaigns").expect(200);
      server.operator().post(campaign + "/pause", null).expect(200);
      assertThat(answered(reads)).isLessThan(READS);

      connection.rollback();
      for (CompletableFuture<Client.Reply> read : reads) {
        assertThat(read.get().status()).isIn(200, 503);
      }
    }
  }

  @Test
  void norDoBuyersWaitForListsOfAllPurchasesThatAServiceReads() throws Exception {
    String campaign = "/v1/campaigns/" + server.drop(10, null);
    Client known = server.buyer("patient");
    known.get(campaign).expect(200);
    Client service = server.service();
    try (Connection connection = server.database().connection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("LOCK TABLE lockstep_server.purchase IN ACCESS EXCLUSIVE MODE");
      List<CompletableFuture<Client.Reply>> reads =
          hangingReads(service, "/v1/purchases?status=failed", "lockstep_server.purchase");
      known.get(campaign).expect(200);
      assertThat(answered(reads)).as("lists that a buyer waited for").isLessThan(READS / 2);
      connection.rollback();
      for (CompletableFuture<Client.Reply> read : reads) {
        assertThat(read.get().status()).isIn(200, 503);
      }
    }
  }

  @Test
  void aReportThatTakesTooLongIsCutOffAndSaysSo() throws Exception {
    try (Connection connection = server.database().connection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("LOCK TABLE " + TABLE + " IN ACCESS EXCLUSIVE MODE");
      Client.Reply reply = server.operator().get(REPORT);
      JsonObject problem = reply.expectProblem(503, "report-too-slow");
      assertThat(problem.getString("detail")).contains("Narrow the search");
      assertThat(reply.header("Retry-After")).isPresent();
      connection.rollback();
    }
    server.operator().get(REPORT).expect(200);
  }

  /** A report runs in a transaction that only reads; whatever locks or writes must not be one. */
  @Test
  void whateverAnOperatorReadsIsAnswered() throws Exception {
    for (Operation read : new EveryRoute(server).operations()) {
      if (read.method().equals("GET") && !read.path().endsWith("/live")) {
        Client.Reply reply = server.operator().get(read.path());
        assertThat(reply.status())
            .as("%s: %s", read, reply.response().body())
            // A drop has no positions; a list may ask for a parameter.
            .isIn(200, 400, 404, 409);
      }
    }
  }

  private static List<CompletableFuture<Client.Reply>> hangingReads(
      Client client, String path, String table) throws Exception {
    List<CompletableFuture<Client.Reply>> reads = new ArrayList<>();
    for (int i = 0; i < READS; i++) {
      reads.add(client.begin(PATIENCE, "GET", path, "", null));
    }
    Await.until(
        "reads hang",
        () ->
            server
                    .database()
                    .queryLong(
                        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '"
                            + table
                            + "'::regclass")
                >= 4);
    return reads;
  }

  private static long answered(List<CompletableFuture<Client.Reply>> reads) {
    return reads.stream().filter(CompletableFuture::isDone).count();
  }
}
