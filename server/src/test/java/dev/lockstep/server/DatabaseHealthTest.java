package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the server says of its database, while somebody waits in it. */
@Timeout(180)
class DatabaseHealthTest {
  @RegisterExtension static final RunningServer server = RunningServer.forBrowsers();
  @RegisterExtension static final Chromium chromium = new Chromium();

  @Test
  void whoWaitsForWhomIsToldAndDrawn() throws Exception {
    server.database().execute("CREATE TABLE wanted (id int); INSERT INTO wanted VALUES (1)");
    try (Connection holder = server.database().connection();
        Connection waiter = server.database().connection()) {
      holder.setAutoCommit(false);
      waiter.setAutoCommit(false);
      int holding = pid(holder);
      int waiting = pid(waiter);
      execute(holder, "UPDATE wanted SET id = 2");
      CompletableFuture<Void> blocked =
          CompletableFuture.runAsync(() -> execute(waiter, "UPDATE wanted SET id = 3"));
      Await.until("the wait is seen", () -> !session(waiting).getJsonArray("blockedBy").isEmpty());

      assertThat(session(waiting).getJsonArray("blockedBy")).containsExactly(holding);
      assertThat(session(waiting).getString("query")).contains("UPDATE wanted");
      assertThat(session(holding).getString("state")).isEqualTo("idle in transaction");
      assertThat(session(holding).getDouble("transactionSeconds")).isPositive();
      Await.until("it is critical", () -> level("lockWaitSeconds").equals("critical"));
      assertThat(health().getString("level")).isEqualTo("critical");

      Page page = chromium.person();
      page.navigate(server.url() + "/console#/database");
      page.getByLabel("Operator key").fill(RunningServer.OPERATOR_KEY);
      page.getByRole(AriaRole.BUTTON, named("Sign in")).click();
      PlaywrightAssertions.assertThat(page.locator("svg.locks .waits text").first())
          .hasText("Process " + waiting);
      PlaywrightAssertions.assertThat(page.locator("svg.locks line.wait")).hasCount(1);
      PlaywrightAssertions.assertThat(page.locator("main"))
          .containsText("Somebody waits for a lock");
      // Tables without rows come only when they are asked for.
      Locator tables = page.getByRole(AriaRole.REGION, named("Tables"));
      PlaywrightAssertions.assertThat(tables).not().containsText("lockstep.job_dead");
      page.getByRole(AriaRole.BUTTON, named("Show all")).click();
      PlaywrightAssertions.assertThat(tables).containsText("lockstep.job_dead");
      holder.rollback();
      blocked.join();
      waiter.rollback();
    }
    Await.until("nobody waits any more", () -> level("lockWaitSeconds").equals("ok"));
  }

  @Test
  void itsTablesItsPoolAndItsTransactionIdsAreShown() throws Exception {
    JsonObject health = health();

    assertThat(
            health.getJsonArray("tables").stream().map(one -> ((JsonObject) one).getString("name")))
        .contains("lockstep.hold", "lockstep.entry", "lockstep_server.purchase")
        // Partitioned ones have no transaction ids, and would look as if theirs had run out.
        .doesNotContain("lockstep.job_history", "lockstep.outbox_event");
    assertThat(
            health.getJsonObject("pool").getInteger("active")
                + health.getJsonObject("pool").getInteger("idle"))
        .isPositive();
    assertThat(health.getJsonObject("pool").getInteger("max"))
        .isGreaterThanOrEqualTo(health.getJsonObject("pool").getInteger("active"));
    JsonObject ids = health.getJsonObject("transactionIds");
    assertThat(ids.getLong("age") + ids.getLong("untilWraparound")).isEqualTo(1L << 31);
    assertThat(health.getJsonArray("findings"))
        .allSatisfy(
            one -> {
              assertThat(((JsonObject) one).getString("advice")).endsWith(".");
              assertThat(((JsonObject) one).getDouble("warningAt"))
                  .isLessThan(((JsonObject) one).getDouble("criticalAt"));
            });
  }

  private static JsonObject health() throws Exception {
    return server.operator().get("/v1/database").expect(200);
  }

  private static String level(String finding) throws Exception {
    return named(health().getJsonArray("findings"), "name", finding).getString("level");
  }

  private static JsonObject session(int pid) throws Exception {
    return named(health().getJsonArray("sessions"), "pid", pid);
  }

  private static Page.GetByRoleOptions named(String name) {
    return new Page.GetByRoleOptions().setName(name);
  }

  private static JsonObject named(JsonArray all, String field, Object value) {
    return all.stream()
        .map(JsonObject.class::cast)
        .filter(one -> value.equals(one.getValue(field)))
        .findFirst()
        .orElseThrow();
  }

  private static int pid(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      row.next();
      return row.getInt(1);
    }
  }

  private static void execute(Connection connection, String sql) {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
