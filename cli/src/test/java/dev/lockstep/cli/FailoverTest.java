package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Await;
import dev.lockstep.server.Client;
import dev.lockstep.server.Client.Reply;
import dev.lockstep.server.RunningServer;
import dev.lockstep.testkit.ReplicatedServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The database fails over to its standby while people buy; the server goes on by itself. */
@Timeout(180)
class FailoverTest {
  private static final String KEY = "operator-key-of-a-server-that-fails-over";
  private static final int MORE = 10;

  private final AtomicBoolean open = new AtomicBoolean(true);
  private final AtomicInteger holds = new AtomicInteger();
  private final AtomicInteger purchases = new AtomicInteger();
  private final Queue<Object> wrong = new ConcurrentLinkedQueue<>();

  @Test
  void buyersAreAskedToComeAgainAtMostAndSoonServedByThePromotedServer() throws Exception {
    try (ReplicatedServer database = ReplicatedServer.start(false);
        ServerProcess server = ServerProcess.upOn(database.url(), KEY, Map.of())) {
      Client shop = new Client(server.awaitReady(), Optional.of(KEY));
      String campaign = shop.publish(RunningServer.dropOf(100_000).put("holdSeconds", 900));
      List<Thread> crowd = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        crowd.add(buyer(shop, campaign, i));
      }
      awaitMore();

      database.promote();
      database.crashPrimary();

      awaitMore();
      open.set(false);
      for (Thread buyer : crowd) {
        buyer.join();
      }
      assertThat(wrong).isEmpty();
      assertThat(shop.post("/v1/invariants/check", null).expect(200).getBoolean("ok")).isTrue();
    }
  }

  private void awaitMore() throws Exception {
    int heldBefore = holds.get();
    int boughtBefore = purchases.get();
    Await.until(
        "more is held and bought",
        () ->
            (holds.get() >= heldBefore + MORE && purchases.get() >= boughtBefore + MORE)
                || !wrong.isEmpty());
    assertThat(wrong).isEmpty();
  }

  /** Holds and buys in turn, each under a key of its own. */
  private Thread buyer(Client shop, String campaign, int number) {
    Thread thread =
        new Thread(
            () -> {
              for (int n = 0; open.get() && wrong.isEmpty(); n++) {
                String name = "buyer-" + number + "-" + n;
                try {
                  boolean buys = n % 2 == 0;
                  Reply reply = buys ? shop.buyOne(campaign, name) : shop.holdOne(campaign, name);
                  judge(reply, buys ? purchases : holds);
                } catch (Exception e) {
                  wrong.add(e);
                }
              }
            });
    thread.start();
    return thread;
  }

  private void judge(Reply reply, AtomicInteger done) {
    if (reply.status() == 201) {
      done.incrementAndGet();
    } else if (reply.status() != 503 || reply.header("Retry-After").isEmpty()) {
      // A purchase may also be accepted, and be ended by the server on its own.
      if (reply.status() != 202) {
        wrong.add(reply.status() + " " + reply.response().body());
      }
    }
  }
}
