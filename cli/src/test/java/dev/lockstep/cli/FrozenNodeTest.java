package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.gateway.TestGateway;
import dev.lockstep.server.Client;
import dev.lockstep.server.Client.Reply;
import dev.lockstep.server.RunningServer;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Two servers on one database, people buying at both. One is stopped (SIGSTOP) while it has the
 * stock locked: at the other nobody is turned away. The provider is a company of its own.
 */
@Timeout(180)
class FrozenNodeTest {
  private static final String KEY = "operator-key-of-two-servers-one-frozen";
  private static final String FROZEN = "frozen";
  private static final int BUYERS = 30;

  private static final String HAS_STOCK_LOCKED =
      """
      SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
      WHERE a.application_name = 'frozen' AND a.state = 'idle in transaction' AND l.granted
        AND l.relation = 'lockstep.pool'::regclass
        AND l.mode IN ('RowShareLock', 'RowExclusiveLock')""";

  @RegisterExtension static final TestDatabase database = TestDatabase.empty();
  @RegisterExtension static final TestDatabase bank = TestDatabase.empty();

  @Test
  void whoBuysAtTheOtherNodeIsNotTurnedAwayAndTheFrozenOneGoesOnLater() throws Exception {
    TestGateway.migrate(bank);
    try (TestGateway provider = TestGateway.start(bank);
        ServerProcess steady = start(provider, "steady");
        ServerProcess frozen = start(provider, FROZEN)) {
      Client here = new Client(steady.awaitReady(), Optional.of(KEY));
      Client there = new Client(frozen.awaitReady(), Optional.of(KEY));
      String campaign = here.publish(RunningServer.dropOf(100_000).put("holdSeconds", 900));

      AtomicBoolean open = new AtomicBoolean(true);
      List<Thread> crowd = crowd(there, campaign, open);
      int found = 0;
      for (int times = 0; found == 0; times++) {
        assertThat(times).as("looks for the stock to be locked").isLessThan(2_000);
        frozen.resume();
        frozen.pause();
        found = (int) database.queryLong(HAS_STOCK_LOCKED);
      }

      List<Reply> answers =
          Race.<Reply>of(BUYERS)
              .run(
                  buyer ->
                      buyer % 2 == 0
                          ? here.buyOne(campaign, "here-" + buyer)
                          : here.holdOne(campaign, "here-" + buyer))
              .valuesOrThrow();
      assertThat(answers).extracting(Reply::status).containsOnly(201);

      open.set(false);
      frozen.resume();
      for (Thread buyer : crowd) {
        buyer.join();
      }
      there.buyOne(campaign, "after").expect(201);
      assertThat(here.get("/v1/reconciliation").expect(200).getBoolean("ok")).isTrue();
      assertThat(here.post("/v1/invariants/check", null).expect(200).getBoolean("ok")).isTrue();
    }
  }

  /** Buy and hold, one after the other, at the node that will stand still. */
  private static List<Thread> crowd(Client there, String campaign, AtomicBoolean open) {
    AtomicInteger number = new AtomicInteger();
    List<Thread> crowd = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Thread buyer =
          new Thread(
              () -> {
                while (open.get()) {
                  try {
                    String name = "there-" + number.incrementAndGet();
                    Reply reply = there.buyOne(campaign, name);
                    // Its own transaction was ended, so it may be asked to come again.
                    assertThat(reply.status()).isIn(201, 503);
                  } catch (Exception e) {
                    throw new IllegalStateException(e);
                  }
                }
              });
      buyer.start();
      crowd.add(buyer);
    }
    return crowd;
  }

  private static ServerProcess start(TestGateway provider, String name) throws Exception {
    return ServerProcess.upOn(
        "%s?user=%s&password=%s&ApplicationName=%s"
            .formatted(database.url(), database.user(), database.password(), name),
        KEY,
        Map.of(
            "LOCKSTEP_STRIPE_KEY",
            TestGateway.KEY,
            "LOCKSTEP_STRIPE_API_BASE",
            provider.url().toString()));
  }
}
