package dev.lockstep.server;

import dev.lockstep.server.gateway.GatewayFaults;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.payment.PaymentsConfig;
import dev.lockstep.server.purchase.Timings;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Who is paid through, and how patiently. No flags: other users of the machine can read a process's
 * arguments.
 *
 * @param stripeKey empty: the built-in gateway
 * @param apiBase where Stripe, or something that speaks like it, is; for a key only
 * @param webhookSecret what events are signed with; empty: a random one, so that only the built-in
 *     gateway's are believed
 * @param answerTimeout how long the provider may take; then the outcome is unknown, and asked for
 *     again
 * @param faults what the built-in gateway does wrong, to rehearse a bad day
 */
record PaymentSettings(
    Optional<Secret> stripeKey,
    URI apiBase,
    Optional<Secret> webhookSecret,
    Duration answerTimeout,
    Timings timings,
    GatewayFaults faults) {
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(20);

  /** The built-in gateway. */
  static final PaymentSettings BUILT_IN =
      new PaymentSettings(
          Optional.empty(),
          PaymentsConfig.STRIPE,
          Optional.empty(),
          ANSWER_TIMEOUT,
          Timings.DEFAULT,
          GatewayFaults.NONE);

  /** An empty variable counts as unset. */
  static PaymentSettings of(Map<String, String> environment) {
    Optional<Secret> key = secret("LOCKSTEP_STRIPE_KEY", environment);
    Optional<String> base = text("LOCKSTEP_STRIPE_API_BASE", environment);
    if (base.isPresent() && key.isEmpty()) {
      throw new WrongUse("LOCKSTEP_STRIPE_API_BASE needs LOCKSTEP_STRIPE_KEY");
    }
    Optional<String> faults = text("LOCKSTEP_GATEWAY_FAULTS", environment);
    if (faults.isPresent() && key.isPresent()) {
      throw new WrongUse(
          "LOCKSTEP_GATEWAY_FAULTS is for the built-in gateway, which LOCKSTEP_STRIPE_KEY replaces");
    }
    return new PaymentSettings(
        key,
        base.map(PaymentSettings::parseBase).orElse(PaymentsConfig.STRIPE),
        secret("LOCKSTEP_STRIPE_WEBHOOK_SECRET", environment),
        ANSWER_TIMEOUT,
        Timings.DEFAULT,
        faults.map(PaymentSettings::parseFaults).orElse(GatewayFaults.NONE));
  }

  /** Whether nobody is charged: the built-in gateway, or Stripe's test mode. */
  boolean takesTestCards() {
    return stripeKey.map(key -> key.reveal().matches("(sk|rk)_test_.*")).orElse(true);
  }

  PaymentSettings withTimings(Timings timings) {
    return new PaymentSettings(stripeKey, apiBase, webhookSecret, answerTimeout, timings, faults);
  }

  PaymentSettings withAnswerTimeout(Duration answerTimeout) {
    return new PaymentSettings(stripeKey, apiBase, webhookSecret, answerTimeout, timings, faults);
  }

  PaymentSettings withWebhookSecret(Secret secret) {
    return new PaymentSettings(
        stripeKey, apiBase, Optional.of(secret), answerTimeout, timings, faults);
  }

  private static GatewayFaults parseFaults(String json) {
    try {
      return GatewayFaults.parse(json);
    } catch (IllegalArgumentException e) {
      throw new WrongUse("LOCKSTEP_GATEWAY_FAULTS: " + e.getMessage());
    }
  }

  private static URI parseBase(String text) {
    try {
      URI base = new URI(text);
      boolean http = "http".equals(base.getScheme()) || "https".equals(base.getScheme());
      if (http && base.getHost() != null && base.getQuery() == null) {
        return base;
      }
    } catch (URISyntaxException e) {
      // answered below
    }
    throw new WrongUse(
        "LOCKSTEP_STRIPE_API_BASE must be an address such as https://api.stripe.com");
  }

  private static Optional<Secret> secret(String variable, Map<String, String> environment) {
    return text(variable, environment)
        .map(
            value -> {
              if (!value.matches("[\\x21-\\x7e]{1,512}")) {
                throw new WrongUse(
                    variable + " must be 1 to 512 printable ASCII characters without spaces");
              }
              return Secret.of(value);
            });
  }

  private static Optional<String> text(String variable, Map<String, String> environment) {
    return Optional.ofNullable(environment.get(variable)).filter(value -> !value.isEmpty());
  }
}
