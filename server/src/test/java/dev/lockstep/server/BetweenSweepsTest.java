package dev.lockstep.server;

import dev.lockstep.hold.Actor;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The whole takes long with many purchases. What has just changed is looked at before that. */
@Timeout(200)
class BetweenSweepsTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);

  private static final String RESTS = "100000000000";

  @Test
  void aSaleWithoutAPaymentIsFoundWhileTheSweepRests() throws Exception {
    TestDatabase database = server.database();
    String campaign = server.drop(10, null);
    letTheSweepRest();

    ScopeId scope = new ScopeId(Long.parseLong(campaign));
    HoldId hold = HoldId.next();
    try (Holds holds = new Holds(new Transactor(database.dataSource()))) {
      holds.call(
          Acquire.of(
              scope,
              hold,
              new BuyerId("b"),
              List.of(Line.of(new PoolId(1), 1)),
              Duration.ofHours(1)));
      holds.call(new Confirm(scope, hold, Actor.operator("somebody")));
    }

    Await.until(
        "it is found",
        () ->
            database.queryLong(
                    "SELECT count(*) FROM lockstep_server.reconciliation_finding"
                        + " WHERE kind = 'soldUnpaid' AND campaign = "
                        + campaign)
                == 1);
  }

  /** As after a sweep that took years: a look that began after that has kept it so. */
  private static void letTheSweepRest() throws Exception {
    String resting =
        "(SELECT count(*) FROM lockstep_server.duty_state WHERE name = 'reconciliation'"
            + " AND state::json -> 'sweep' ->> 'lastWorkMs' = '"
            + RESTS
            + "'";
    Await.until(
        "the sweep rests",
        () -> {
          if (server.database().queryLong("SELECT " + resting + ")") == 0) {
            server
                .database()
                .execute(
                    "UPDATE lockstep_server.duty_state SET state = jsonb_set(jsonb_set("
                        + "state::jsonb, '{sweep}', jsonb_build_object('lastAt',"
                        + " to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'),"
                        + " 'lastWorkMs', "
                        + RESTS
                        + ")), '{checkedAt}', '\"2000-01-01T00:00:00Z\"')::text"
                        + " WHERE name = 'reconciliation'");
            return false;
          }
          return server
                  .database()
                  .queryLong(
                      "SELECT "
                          + resting
                          + " AND (state::json ->> 'checkedAt')::timestamptz > '2001-01-01')")
              == 1;
        });
  }
}
