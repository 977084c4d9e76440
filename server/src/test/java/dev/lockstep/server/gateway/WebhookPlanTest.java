package dev.lockstep.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * With a bad plan nothing is wrong but the time it takes. The table of events to be sent is nearly
 * empty whenever it is analyzed at rest, and has the dead rows of a whole minute in a rush.
 */
class WebhookPlanTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  @BeforeAll
  static void analyzeAtRest() {
    TestGateway.migrate(database);
    database.execute(
        "INSERT INTO gateway.webhook (event, type, body, due_at) VALUES ('evt_1', 't', '{}', now())");
    database.execute("ANALYZE gateway.webhook");
  }

  @Test
  void deliveredEventsAreLookedUpByTheirKeys() {
    assertThat(plan(WebhookTable.DELETE, SqlArray.texts(List.of("evt_1", "evt_2"))))
        .contains("webhook_pkey")
        .doesNotContain("Seq Scan");
  }

  @Test
  void dueEventsAreLookedUpByTheirTime() {
    assertThat(plan(WebhookTable.CLAIM_DUE, 1_000L, 500))
        .contains("webhook_due")
        .doesNotContain("Seq Scan");
  }

  private static String plan(String statement, Object... parameters) {
    Transactor transactor = new Transactor(database.dataSource());
    return transactor.call(
        new WebhookTable(transactor).options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          Rows<String> lines =
              trip.query("EXPLAIN " + statement, row -> row.getString(1), parameters);
          trip.send();
          return String.join("\n", lines.list());
        });
  }
}
