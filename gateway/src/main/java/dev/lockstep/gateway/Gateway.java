package dev.lockstep.gateway;

import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A payment gateway of our own that speaks Stripe's HTTP on the loopback interface.
 *
 * <p><b>Promises.</b> What it answered is committed. A request sent again under its idempotency key
 * gets its first answer; another request under that key is refused. An intent ends once: succeeded
 * or canceled. Events are posted, signed, until the receiver answers 2xx or the attempts of {@link
 * WebhookTarget} are used up: perhaps more than once, in any order, across restarts.
 *
 * <p><b>Needs</b> the migrations in {@code db/gateway}. The Vert.x instance and the data source
 * stay the caller's. Several gateways may share a database.
 *
 * <p>Thread-safe. {@link #close} answers requests in flight, in bounded time, and may block: do not
 * call it on an event loop.
 */
public final class Gateway implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Gateway.class);

  private static final String LOOPBACK = "127.0.0.1";
  private static final int IDLE_TIMEOUT_SECONDS = 120;
  private static final long START_TIMEOUT_SECONDS = 10;
  private static final long CLOSE_TIMEOUT_SECONDS = 10;

  private final FaultSwitch faults = new FaultSwitch();
  private final @Nullable WebhookDelivery webhooks;
  private final Bookkeeper bookkeeper;
  private final HttpServer server;
  private final AtomicBoolean closed = new AtomicBoolean();

  private Gateway(Vertx vertx, DataSource dataSource, GatewayConfig config) {
    Transactor transactor = new Transactor(dataSource);
    Optional<WebhookTarget> target = config.webhooks();
    WebhookDelivery sending =
        target
            .map(to -> new WebhookDelivery(vertx, to, new WebhookTable(transactor), faults::get))
            .orElse(null);
    webhooks = sending;
    Optional<Duration> takeOverAfter = target.map(WebhookTarget::takeOverAfter);
    bookkeeper =
        new Bookkeeper(
            vertx,
            transactor,
            new BooksOperation(takeOverAfter),
            event -> {
              if (sending != null) {
                sending.offer(event);
              }
            });
    server =
        vertx
            .createHttpServer(
                new HttpServerOptions()
                    .setHost(LOOPBACK)
                    .setPort(config.port())
                    .setIdleTimeout(IDLE_TIMEOUT_SECONDS))
            .requestHandler(new GatewayRoutes(vertx, config.apiKey(), bookkeeper, faults).router());
  }

  /**
   * Starts listening.
   *
   * @throws IllegalStateException if it cannot listen on the port
   */
  public static Gateway start(Vertx vertx, DataSource dataSource, GatewayConfig config) {
    Gateway gateway = new Gateway(vertx, dataSource, config);
    try {
      await(gateway.server.listen(), START_TIMEOUT_SECONDS);
      return gateway;
    } catch (ExecutionException | TimeoutException | InterruptedException e) {
      gateway.close();
      throw new IllegalStateException(
          "the payment gateway cannot listen on port " + config.port(), e);
    }
  }

  /** The base address to give to a Stripe client. */
  public URI url() {
    return URI.create("http://" + LOOPBACK + ":" + server.actualPort());
  }

  public GatewayFaults faults() {
    return faults.get();
  }

  /** Takes effect from the next request and the next event on. */
  public void setFaults(GatewayFaults wanted) {
    faults.set(wanted);
  }

  /**
   * Ends the challenge of an intent that requires action, as its cardholder would. Over HTTP:
   * {@code POST /v1/test/payment_intents/{id}/authenticate} with {@code outcome=succeeded} or
   * {@code failed}.
   *
   * @return whether there was a challenge to end
   */
  public CompletionStage<Boolean> authenticate(String intent, boolean passed) {
    return bookkeeper
        .submit(GatewayRequest.ofOurOwn(new Command.Authenticate(intent, passed)))
        .map(answer -> answer.status() == 200 || answer.status() == 402)
        .toCompletionStage();
  }

  /**
   * Ends an intent that is processing, as its bank would. Over HTTP: {@code POST
   * /v1/test/payment_intents/{id}/settle} with {@code outcome=succeeded} or {@code failed}.
   *
   * @return whether it was processing
   */
  public CompletionStage<Boolean> settle(String intent, boolean paid) {
    return bookkeeper
        .submit(GatewayRequest.ofOurOwn(new Command.Settle(intent, paid)))
        .map(answer -> answer.status() == 200 || answer.status() == 402)
        .toCompletionStage();
  }

  /**
   * Ends a pending refund. Over HTTP: {@code POST /v1/test/refunds/{id}/settle}.
   *
   * @param outcome {@code succeeded}, {@code failed}, {@code canceled} or {@code requires_action}
   * @return whether it was pending
   */
  public CompletionStage<Boolean> settleRefund(String refund, String outcome) {
    RefundStatus to =
        RefundStatus.find(outcome)
            .orElseThrow(() -> new IllegalArgumentException("no outcome: " + outcome));
    return bookkeeper
        .settleRefund(refund, to)
        .map(answer -> answer.status() == 200)
        .toCompletionStage();
  }

  /** Stops listening, lets requests in flight commit, and returns unsent events to the table. */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try {
      await(server.close(), CLOSE_TIMEOUT_SECONDS);
    } catch (ExecutionException | TimeoutException | CompletionException e) {
      log.warn("The payment gateway did not close in order: {}", e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    bookkeeper.close();
    if (webhooks != null) {
      webhooks.close();
    }
  }

  private static <T> void await(Future<T> future, long timeoutSeconds)
      throws ExecutionException, TimeoutException, InterruptedException {
    future.toCompletionStage().toCompletableFuture().get(timeoutSeconds, TimeUnit.SECONDS);
  }
}
