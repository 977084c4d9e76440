package dev.lockstep.gateway;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Posts one event. */
final class WebhookSender implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(WebhookSender.class);

  private static final CharSequence JSON =
      HttpHeaders.createOptimized("application/json; charset=utf-8");

  private final WebhookTarget target;
  private final HttpClient client;

  WebhookSender(Vertx vertx, WebhookTarget target, int connections) {
    this.target = target;
    this.client =
        vertx.createHttpClient(
            new HttpClientOptions()
                .setKeepAlive(true)
                .setConnectTimeout(Math.toIntExact(target.answerTimeout().toMillis())),
            new PoolOptions().setHttp1MaxSize(connections));
  }

  /** True if the receiver took it. Signed anew each time: the receiver refuses old signatures. */
  Future<Boolean> send(Event event) {
    RequestOptions options =
        new RequestOptions()
            .setMethod(HttpMethod.POST)
            .setAbsoluteURI(target.url().toString())
            .putHeader(HttpHeaders.CONTENT_TYPE, JSON)
            .putHeader(
                Signature.HEADER, Signature.of(event.body(), target.secret(), Instant.now()));
    return client
        .request(options)
        // Nested, so that the body is asked for on the event loop, before it has ended.
        .compose(request -> request.send(event.body()).compose(WebhookSender::accepted))
        .timeout(target.answerTimeout().toMillis(), TimeUnit.MILLISECONDS)
        .onFailure(e -> log.debug("Event {} was not delivered: {}", event.id(), e.toString()))
        .otherwise(false);
  }

  @Override
  public void close() {
    client.close();
  }

  /** The body is read to its end, or the connection could not be used again. */
  private static Future<Boolean> accepted(HttpClientResponse response) {
    return response.body().map(body -> response.statusCode() / 100 == 2);
  }
}
