package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.edge.EdgeConfig;
import dev.lockstep.server.edge.HttpLimits;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whoever watches has a place, and whoever is gone has none. */
@Timeout(120)
class WatchersTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final Pattern SAMPLE = Pattern.compile("(?m)^(lockstep_\\w+) (\\d+)\\.0$");

  @Test
  void whoGoesAwayBeforeTheStreamBeganIsNotCounted() throws Exception {
    String id = server.drop(10, null);
    try (Connection holder = server.database().connection();
        Statement statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      // Whoever wants to watch waits for this.
      statement.execute("LOCK TABLE lockstep_server.campaign IN ACCESS EXCLUSIVE MODE");
      List<RawHttp> impatient = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        impatient.add(RawHttp.to(server.url()).get("/v1/campaigns/" + id + "/live"));
      }
      Await.until("all have asked", () -> figure("lockstep_http_requests_in_flight") == 21);
      for (RawHttp client : impatient) {
        client.abort();
      }
      Await.until(
          "the server knows that they are gone",
          () -> figure("lockstep_http_requests_in_flight") == 1);
      holder.rollback();
    }
    // Reads are done in turn: when somebody new is served, so have the others been.
    for (int i = 0; i < 20; i++) {
      server.anyone().get("/v1/campaigns/" + id).expect(200);
    }
    Await.until("nobody is counted", () -> figure("lockstep_live_clients") == 0);
    try (RawHttp watcher = RawHttp.to(server.url())) {
      watcher.get("/v1/campaigns/" + id + "/live").readUntil("event: stock");
      assertThat(figure("lockstep_live_clients")).isEqualTo(1);
    }
    Await.until("and again nobody", () -> figure("lockstep_live_clients") == 0);
  }

  @Test
  void oneAddressHasSoManyStreamsAndOthersHaveTheirs() throws Exception {
    String id = server.drop(10, null);
    String path = "/v1/campaigns/" + id + "/live";
    EdgeConfig edge = RunningServer.EDGE.withLimits(HttpLimits.DEFAULT.withWatchers(3, 2));
    try (Server node = server.start(edge);
        RawHttp first = RawHttp.to(node.url());
        RawHttp second = RawHttp.to(node.url());
        RawHttp third = RawHttp.to(node.url());
        RawHttp other = RawHttp.to(node.url(), "127.0.0.2");
        RawHttp last = RawHttp.to(node.url(), "127.0.0.3")) {
      first.get(path).readUntil("event: stock");
      second.get(path).readUntil("event: stock");
      RawHttp.Got refused = third.get(path).read();
      refused.expectProblem(429, "too-many-streams");
      assertThat(refused.headers()).containsKey("retry-after");
      other.get(path).readUntil("event: stock");
      last.get(path).read().expectProblem(503, "overloaded");
      first.abort();
      Await.until(
          "there is a place again",
          () -> {
            try (RawHttp again = RawHttp.to(node.url())) {
              return again.get(path).readUntil("HTTP/1.1").contains("200");
            }
          });
    }
  }

  @Test
  void manyWatchedCampaignsAreReadLessOften() throws Exception {
    List<RawHttp> watchers = new ArrayList<>();
    try {
      for (int i = 0; i < 40; i++) {
        RawHttp watcher = RawHttp.to(server.url());
        watchers.add(watcher);
        watcher.get("/v1/campaigns/" + server.drop(1, null) + "/live").readUntil("event: stock");
      }
      long began = System.nanoTime();
      double before = reads();
      Await.until("two seconds have passed", () -> System.nanoTime() - began > 2_000_000_000L);
      double reads = reads() - before;
      double seconds = (System.nanoTime() - began) / 1e9;

      // 200 a second, and not ten of each.
      assertThat(reads / seconds).isLessThan(300);
    } finally {
      for (RawHttp watcher : watchers) {
        watcher.close();
      }
    }
  }

  private static double reads() throws Exception {
    return new Figures(server.anyone())
        .of(
            "lockstep_database_transaction_duration_seconds_count"
                + "{outcome=\"committed\",transaction=\"read campaign\"}");
  }

  private static int figure(String name) throws Exception {
    Matcher sample = SAMPLE.matcher(server.anyone().get("/metrics").response().body());
    while (sample.find()) {
      if (sample.group(1).equals(name)) {
        return Integer.parseInt(sample.group(2));
      }
    }
    throw new AssertionError("There is no " + name);
  }
}
