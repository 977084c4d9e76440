package dev.lockstep.server;

import dev.lockstep.gateway.Gateway;
import dev.lockstep.gateway.GatewayConfig;
import dev.lockstep.gateway.WebhookTarget;
import dev.lockstep.server.config.PaymentSettings;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.payment.PaymentListener;
import dev.lockstep.server.payment.Payments;
import dev.lockstep.server.payment.PaymentsConfig;
import io.vertx.core.Vertx;
import java.net.URI;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Optional;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The payment provider: Stripe if there is a key, else the built-in gateway, through the same
 * client.
 */
final class PaymentProvider implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(PaymentProvider.class);
  private static final int SECRET_BYTES = 32;

  private final Optional<Gateway> gateway;
  private final Payments payments;
  private final String webhookSecret;

  private PaymentProvider(Optional<Gateway> gateway, Payments payments, String webhookSecret) {
    this.gateway = gateway;
    this.payments = payments;
    this.webhookSecret = webhookSecret;
  }

  /**
   * @param self this server's address as seen from this machine, for the gateway's events
   */
  static PaymentProvider open(
      Vertx vertx,
      DataSource dataSource,
      PaymentSettings settings,
      URI self,
      PaymentListener listener) {
    String webhookSecret =
        settings.webhookSecret().map(Secret::reveal).orElseGet(() -> random("whsec_"));
    if (settings.stripeKey().isPresent()) {
      if (settings.webhookSecret().isEmpty()) {
        log.warn(
            "Without LOCKSTEP_STRIPE_WEBHOOK_SECRET, Stripe's events are ignored; unfinished"
                + " purchases are looked up instead, which takes longer");
      }
      Payments payments =
          open(vertx, settings, settings.apiBase(), settings.stripeKey().get().reveal(), listener);
      return new PaymentProvider(Optional.empty(), payments, webhookSecret);
    }
    String key = random("sk_test_");
    Gateway gateway =
        Gateway.start(
            vertx,
            dataSource,
            GatewayConfig.withKey(key)
                .withWebhooks(
                    WebhookTarget.of(self.resolve("/v1/webhooks/stripe"), webhookSecret)));
    gateway.setFaults(settings.faults());
    return new PaymentProvider(
        Optional.of(gateway), open(vertx, settings, gateway.url(), key, listener), webhookSecret);
  }

  private static Payments open(
      Vertx vertx, PaymentSettings settings, URI base, String key, PaymentListener listener) {
    return Payments.open(
        vertx, PaymentsConfig.of(base, key).withAnswerTimeout(settings.answerTimeout()), listener);
  }

  Payments payments() {
    return payments;
  }

  String webhookSecret() {
    return webhookSecret;
  }

  /** Present if there is no Stripe key. */
  Optional<Gateway> gateway() {
    return gateway;
  }

  @Override
  public void close() {
    payments.close();
    gateway.ifPresent(Gateway::close);
  }

  private static String random(String prefix) {
    byte[] bytes = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(bytes);
    return prefix + HexFormat.of().formatHex(bytes);
  }
}
