package dev.lockstep.prove.fault;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.gateway.Gateway;
import dev.lockstep.gateway.GatewayConfig;
import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.gateway.GatewayFaults.Webhooks;
import dev.lockstep.gateway.WebhookTarget;
import dev.lockstep.prove.node.ShopSettings;
import dev.lockstep.testkit.TcpProxy;
import io.vertx.core.Vertx;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.flywaydb.core.Flyway;

/**
 * The payment provider of the shops: the built-in gateway in the driver's process, behind a proxy,
 * with books of its own. Thread-safe.
 */
public final class Bank implements AutoCloseable {
  private static final int CONNECTIONS = 8;
  private static final long CONNECTION_TIMEOUT_MS = 3_000;
  private static final Duration TROUBLE = Duration.ofMillis(700);

  private final Vertx vertx = Vertx.vertx();
  private final HikariDataSource pool;
  private final Gateway gateway;
  private final TcpProxy proxy;

  /** Opens its books in an empty database; events go to a shop's port. */
  Bank(String url, String user, String password, int shopPort) {
    Flyway.configure()
        .dataSource(url, user, password)
        .locations("classpath:db/gateway")
        .load()
        .migrate();
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setUsername(user);
    config.setPassword(password);
    config.setMaximumPoolSize(CONNECTIONS);
    config.setConnectionTimeout(CONNECTION_TIMEOUT_MS);
    pool = new HikariDataSource(config);
    WebhookTarget hooks =
        new WebhookTarget(
            URI.create("http://127.0.0.1:" + shopPort + "/v1/webhooks/stripe"),
            ShopSettings.WEBHOOK_SECRET,
            Duration.ofSeconds(4),
            Duration.ofMillis(200),
            Duration.ofSeconds(2),
            100,
            Duration.ofSeconds(6),
            Duration.ofMillis(200));
    gateway =
        Gateway.start(
            vertx, pool, new GatewayConfig(0, ShopSettings.STRIPE_KEY, Optional.of(hooks)));
    proxy = TcpProxy.to("127.0.0.1", gateway.url().getPort());
  }

  /** The port at which the shops reach it: the proxy's. */
  int port() {
    return proxy.port();
  }

  /** Its own address, past the proxy. */
  public URI url() {
    return gateway.url();
  }

  /**
   * Ends a challenge as the cardholder would.
   *
   * @return whether there was one to end
   */
  public boolean authenticate(String intent, boolean passed) {
    return gateway.authenticate(intent, passed).toCompletableFuture().join();
  }

  /** Injects a fault, waits and heals. */
  void trouble(Fault fault, long amount) throws InterruptedException {
    try {
      switch (fault) {
        case GATEWAY_DOWN -> {
          proxy.refuse();
          proxy.cut();
        }
        case GATEWAY_SLOW ->
            gateway.setFaults(
                GatewayFaults.NONE.withLatency(Duration.ofMillis(200 + amount * amount / 400)));
        case GATEWAY_LATE ->
            gateway.setFaults(
                GatewayFaults.NONE.withAnswers(
                    amount < 500 ? Answers.never(0.7) : Answers.late(0.7, Duration.ofSeconds(3))));
        case GATEWAY_ERRORS ->
            gateway.setFaults(
                GatewayFaults.NONE.withAnswers(
                    amount < 500 ? Answers.errorsAfter(0.7) : Answers.errorsBefore(0.7)));
        case HOOKS_LATE ->
            gateway.setFaults(
                GatewayFaults.NONE.withWebhooks(
                    Webhooks.delayed(Duration.ofMillis(500 + 4 * amount))));
        default ->
            gateway.setFaults(
                GatewayFaults.NONE.withWebhooks(new Webhooks(0.8, Duration.ZERO, 0.6)));
      }
      TimeUnit.MILLISECONDS.sleep(TROUBLE.toMillis() + amount);
    } finally {
      heal();
    }
  }

  void heal() {
    proxy.accept();
    gateway.setFaults(GatewayFaults.NONE);
  }

  @Override
  public void close() {
    proxy.close();
    gateway.close();
    pool.close();
    vertx.close().await();
  }
}
