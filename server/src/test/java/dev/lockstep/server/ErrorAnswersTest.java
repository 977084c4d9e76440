package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.api.FaultLog;
import dev.lockstep.server.http.ErrorAnswers;
import dev.lockstep.server.http.Headers;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.HttpException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a route fails with, the answer is a problem of ours and never a success. */
@Timeout(120)
class ErrorAnswersTest {
  private static final Vertx vertx = Vertx.vertx();
  private static int port;

  @BeforeAll
  static void listen() throws Exception {
    Router router = Router.router(vertx);
    router.route("/status/:status").handler(c -> c.fail(status(c)));
    router
        .route("/thrown/:status")
        .handler(c -> c.fail(status(c), new IllegalStateException("planted")));
    router.route("/http/:status").handler(c -> c.fail(new HttpException(status(c))));
    new ErrorAnswers(null, new FaultLog()).mountOn(router);
    HttpServer server =
        vertx
            .createHttpServer()
            .requestHandler(
                request -> {
                  Headers.add(request);
                  router.handle(request);
                })
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get(30, TimeUnit.SECONDS);
    port = server.actualPort();
  }

  @AfterAll
  static void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
  }

  private static int status(RoutingContext context) {
    return Integer.parseInt(context.pathParam("status"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"status", "thrown", "http"})
  void everyStatusIsAProblem(String how) throws Exception {
    for (int status = how.equals("http") ? 400 : 100; status < 600; status++) {
      try (RawHttp connection = RawHttp.to("http://127.0.0.1:" + port)) {
        RawHttp.Got answer = connection.get("/" + how + "/" + status).read();

        assertThat(answer.status()).as("%s %s", how, status).isBetween(400, 599);
        assertThat(answer.status() >= 500).isEqualTo(status >= 500);
        assertThat(answer.slug()).isNotEmpty();
      }
    }
  }
}
