package dev.lockstep.server.payment;

import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.net.URI;
import java.util.concurrent.TimeUnit;

/** A payment provider on loopback that answers as a test wants it to. */
final class ScriptedProvider {
  private final Vertx vertx = Vertx.vertx();
  private final URI url;

  ScriptedProvider(Handler<HttpServerRequest> script) throws Exception {
    HttpServer server = vertx.createHttpServer().requestHandler(script);
    server
        .listen(0, "127.0.0.1")
        .toCompletionStage()
        .toCompletableFuture()
        .get(10, TimeUnit.SECONDS);
    url = URI.create("http://127.0.0.1:" + server.actualPort());
  }

  Vertx vertx() {
    return vertx;
  }

  URI url() {
    return url;
  }

  void stop() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
  }
}
