package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.config.ServerConfig;
import dev.lockstep.server.database.Database;
import dev.lockstep.server.database.DatabaseAddress;
import dev.lockstep.server.http.HttpApi;
import dev.lockstep.server.setting.Sources;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A server that starts serves all of its API at one moment, and is not ready before. */
@Timeout(120)
class CompleteOrNotReadyTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final int STARTS = 20;
  private static final int CALLERS = 4;

  @Test
  void nothingThatIsThereIsMissingWhileAServerStarts() throws Exception {
    DatabaseAddress address =
        new DatabaseAddress(
            server.database().url(),
            server.database().user(),
            server.database().password(),
            "the test database",
            false);
    ServerConfig config =
        ServerConfig.of(
                Sources.of(
                    Map.of(),
                    Map.of(
                        "LOCKSTEP_OPERATOR_KEY",
                        RunningServer.OPERATOR_KEY,
                        "LOCKSTEP_SAMPLES",
                        "false")))
            .withExternalDatabase(address);
    List<String> known = reads();
    ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
    try (Database database = Database.open(address, config.database());
        HttpApi first = HttpApi.listen("localhost", 0, config.edge());
        Services services =
            Services.open(
                new Node(
                    database,
                    config,
                    first.vertx(),
                    first.inFlight(),
                    URI.create(url(first)),
                    first.metrics(),
                    System::nanoTime))) {
      first.serve(database, services.endpoints(), services.authenticator(), services::problems);
      List<String> paths = served(first, known);
      assertThat(paths).hasSizeGreaterThan(20).contains("/openapi.json", "/docs");
      for (int i = 0; i < STARTS; i++) {
        try (HttpApi starting = HttpApi.listen("localhost", 0, config.edge())) {
          CountDownLatch waiting = new CountDownLatch(CALLERS);
          List<Future<?>> all = new ArrayList<>();
          for (int n = 0; n < CALLERS; n++) {
            all.add(callers.submit(() -> askUntilReady(starting, paths, waiting)));
          }
          assertThat(waiting.await(60, TimeUnit.SECONDS)).isTrue();
          starting.serve(
              database, services.endpoints(), services.authenticator(), services::problems);
          for (Future<?> one : all) {
            one.get(60, TimeUnit.SECONDS);
          }
        }
      }
    } finally {
      callers.shutdownNow();
    }
  }

  /** Every path of the document that is read with GET and ends, of something that exists. */
  private static List<String> reads() throws Exception {
    List<String> paths = new ArrayList<>(List.of("/openapi.json", "/docs"));
    new EveryRoute(server)
        .operations().stream()
            .filter(one -> one.method().equals("GET") && !one.path().endsWith("/live"))
            .forEach(one -> paths.add(one.path()));
    return paths;
  }

  private static List<String> served(HttpApi http, List<String> paths) throws Exception {
    List<String> there = new ArrayList<>();
    for (String path : paths) {
      if (client(http).get(path).status() == 200) {
        there.add(path);
      }
    }
    return there;
  }

  /** Not ready, and from one moment on everything is there. */
  private static Void askUntilReady(HttpApi http, List<String> paths, CountDownLatch waiting)
      throws Exception {
    Client client = client(http);
    Set<String> missing = new TreeSet<>(paths);
    boolean ready = false;
    try {
      while (!missing.isEmpty()) {
        for (String path : List.copyOf(missing)) {
          Client.Reply reply = client.get(path);
          if (reply.status() == 503 && !ready) {
            reply.expectProblem(503, "not-ready");
            assertThat(reply.header("Retry-After")).hasValue("1");
          } else {
            assertThat(reply.status()).as("%s: %s", path, reply.response().body()).isEqualTo(200);
            missing.remove(path);
            ready = true;
          }
        }
        waiting.countDown();
      }
    } finally {
      waiting.countDown();
    }
    return null;
  }

  private static Client client(HttpApi http) {
    return new Client(url(http), Optional.of(RunningServer.OPERATOR_KEY));
  }

  private static String url(HttpApi http) {
    return "http://localhost:" + http.port();
  }
}
