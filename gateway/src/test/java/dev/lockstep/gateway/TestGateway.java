package dev.lockstep.gateway;

import com.stripe.StripeClient;
import com.stripe.net.RequestOptions;
import com.stripe.param.PaymentIntentCreateParams;
import dev.lockstep.testkit.TestDatabase;
import io.vertx.core.Vertx;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** A gateway on a test database, and stripe-java's own client to speak to it. */
public final class TestGateway implements AutoCloseable {
  public static final String KEY = "sk_test_gateway";

  private final Vertx vertx = Vertx.vertx();
  private final Gateway gateway;

  private TestGateway(DataSource dataSource, GatewayConfig config) {
    gateway = Gateway.start(vertx, dataSource, config);
  }

  /** Makes the gateway's tables. Once a database. */
  public static void migrate(TestDatabase database) {
    database.runScript("/db/gateway/V150__gateway.sql");
    database.runScript("/db/gateway/V196__gateway_webhooks.sql");
    database.runScript("/db/gateway/V200__gateway_delays.sql");
  }

  public static TestGateway start(TestDatabase database) {
    return start(database, GatewayConfig.withKey(KEY));
  }

  public static TestGateway start(TestDatabase database, GatewayConfig config) {
    return new TestGateway(database.dataSource(), config);
  }

  static TestGateway start(DataSource dataSource, GatewayConfig config) {
    return new TestGateway(dataSource, config);
  }

  /** What the gateway itself runs on. */
  public Vertx vertx() {
    return vertx;
  }

  public Gateway gateway() {
    return gateway;
  }

  public URI url() {
    return gateway.url();
  }

  public StripeClient client() {
    return client(KEY);
  }

  StripeClient client(String key) {
    return StripeClient.builder()
        .setApiKey(key)
        .setApiBase(gateway.url().toString())
        .setMaxNetworkRetries(0)
        .build();
  }

  /** ¥500 to be paid at once. */
  public static PaymentIntentCreateParams paying(String paymentMethod) {
    return PaymentIntentCreateParams.builder()
        .setAmount(500L)
        .setCurrency("jpy")
        .setConfirm(true)
        .setPaymentMethod(paymentMethod)
        .putMetadata("purchase", "p-1")
        .build();
  }

  /** ¥500 to be paid some day. */
  static PaymentIntentCreateParams unpaid() {
    return PaymentIntentCreateParams.builder()
        .setAmount(500L)
        .setCurrency("jpy")
        .setPaymentMethod("pm_card_visa")
        .build();
  }

  static RequestOptions key(String key) {
    return RequestOptions.builder().setIdempotencyKey(key).build();
  }

  @Override
  public void close() {
    gateway.close();
    try {
      vertx.close().toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
