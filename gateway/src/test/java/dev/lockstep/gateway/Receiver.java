package dev.lockstep.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Receives webhooks, and answers as a test wants. */
public final class Receiver implements AutoCloseable {
  public static final String SECRET = "whsec_test";

  private final Vertx vertx = Vertx.vertx();
  private final HttpServer server;
  private final BlockingQueue<Delivery> deliveries = new LinkedBlockingQueue<>();

  /** One request, as it arrived. */
  public record Delivery(String body, String signature) {
    public String id() {
      return new JsonObject(body).getString("id");
    }

    public String type() {
      return new JsonObject(body).getString("type");
    }
  }

  /**
   * @param status what to answer a delivery
   */
  Receiver(Function<Delivery, Integer> status) throws Exception {
    server =
        vertx
            .createHttpServer()
            .requestHandler(
                request ->
                    request
                        .body()
                        .onSuccess(
                            body -> {
                              Delivery delivery =
                                  new Delivery(
                                      body.toString(), request.getHeader("Stripe-Signature"));
                              int answer = status.apply(delivery);
                              deliveries.add(delivery);
                              request.response().setStatusCode(answer).end();
                            }))
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get(30, TimeUnit.SECONDS);
  }

  public static Receiver accepting() throws Exception {
    return new Receiver(delivery -> 200);
  }

  /** Impatient, so that a test need not be patient. */
  WebhookTarget target() {
    return new WebhookTarget(
        URI.create("http://127.0.0.1:" + server.actualPort() + "/hooks"),
        SECRET,
        Duration.ofSeconds(20),
        Duration.ofMillis(20),
        Duration.ofMillis(100),
        25,
        Duration.ofSeconds(30),
        Duration.ofMillis(20));
  }

  public GatewayConfig config() {
    return GatewayConfig.withKey(TestGateway.KEY).withWebhooks(target());
  }

  public Delivery take() throws InterruptedException {
    Delivery delivery = deliveries.poll(30, TimeUnit.SECONDS);
    assertThat(delivery).as("a webhook within 30 seconds").isNotNull();
    return delivery;
  }

  int waiting() {
    return deliveries.size();
  }

  @Override
  public void close() {
    try {
      vertx.close().toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
