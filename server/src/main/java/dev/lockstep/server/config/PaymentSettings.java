package dev.lockstep.server.config;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.payment.PaymentsConfig;
import dev.lockstep.server.purchase.Timings;
import dev.lockstep.server.setting.Kind;
import dev.lockstep.server.setting.SettingReader;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Optional;

/**
 * The payment provider and its timeouts.
 *
 * @param stripeKey empty: the built-in gateway
 * @param apiBase the address of Stripe, or of a compatible service; needs a key
 * @param webhookSecret verifies events; empty: a random one, so that only the built-in gateway's
 *     events are accepted
 * @param answerTimeout how long the provider may take; after that the outcome is unknown and is
 *     looked up
 * @param faults what the built-in gateway does wrong, to rehearse failures
 */
public record PaymentSettings(
    Optional<Secret> stripeKey,
    URI apiBase,
    Optional<Secret> webhookSecret,
    Duration answerTimeout,
    Timings timings,
    GatewayFaults faults) {
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(20);

  private static final Kind<Secret> SECRET =
      Kind.of(
          "1 to 512 printable ASCII characters without spaces",
          "x",
          text -> {
            if (!text.matches("[\\x21-\\x7e]{1,512}")) {
              throw new IllegalArgumentException();
            }
            return Secret.of(text);
          },
          secret -> "hidden");

  private static final Kind<URI> BASE =
      Kind.of(
          "an http or https address",
          "http://localhost:1",
          PaymentSettings::parseBase,
          URI::toString);

  private static final Kind<GatewayFaults> FAULTS =
      Kind.of(
          "a JSON object of faults",
          "{\"latencyMs\":50}",
          PaymentSettings::parseFaults,
          GatewayFaults::json);

  /** The built-in gateway. */
  public static final PaymentSettings BUILT_IN =
      new PaymentSettings(
          Optional.empty(),
          PaymentsConfig.STRIPE,
          Optional.empty(),
          ANSWER_TIMEOUT,
          Timings.DEFAULT,
          GatewayFaults.NONE);

  public static PaymentSettings read(SettingReader in) {
    in.group("Payments");
    Optional<Secret> key =
        in.readSecret(
            "stripe.key",
            SECRET,
            "the built-in gateway, which charges nobody",
            "Stripe's secret key.");
    Optional<URI> base =
        in.readOptional(
            "stripe.api-base",
            BASE,
            PaymentsConfig.STRIPE.toString(),
            "Another address with Stripe's HTTP API.");
    Optional<Secret> webhookSecret =
        in.readSecret(
            "stripe.webhook-secret",
            SECRET,
            "only the built-in gateway's events are accepted",
            "The secret that signs Stripe's events.");
    Optional<GatewayFaults> faults =
        in.readOptional(
            "gateway.faults",
            FAULTS,
            "none",
            "What the built-in gateway does wrong, to rehearse failures.");
    if (base.isPresent() && key.isEmpty()) {
      in.problem(in.source("stripe.api-base").orElse("") + " needs LOCKSTEP_STRIPE_KEY");
    }
    if (faults.isPresent() && key.isPresent()) {
      in.problem(
          in.source("gateway.faults").orElse("")
              + " is for the built-in gateway, which LOCKSTEP_STRIPE_KEY replaces");
    }
    Duration answerTimeout =
        in.read(
            "payment.answer-timeout",
            Kind.duration(Duration.ofSeconds(1), Duration.ofMinutes(2)),
            ANSWER_TIMEOUT,
            "How long the payment provider may take to answer; then it is asked again.");
    Duration lookAfter =
        in.read(
            "payment.look-after",
            Kind.duration(Duration.ofSeconds(1), Duration.ofMinutes(10)),
            Timings.DEFAULT.lookAfter(),
            "When to ask the provider about a purchase that it has not reported on.");
    Duration actionWindow =
        in.read(
            "payment.action-window",
            Kind.duration(Duration.ofSeconds(1), Duration.ofMinutes(30)),
            Timings.DEFAULT.actionWindow(),
            "How long a buyer may take for the bank's challenge.");
    return new PaymentSettings(
        key,
        base.orElse(PaymentsConfig.STRIPE),
        webhookSecret,
        answerTimeout,
        Timings.DEFAULT.withLookAfter(lookAfter).withActionWindow(actionWindow),
        faults.orElse(GatewayFaults.NONE));
  }

  /** Whether payments are in test mode: the built-in gateway, or Stripe's test keys. */
  public boolean takesTestCards() {
    return stripeKey.map(key -> key.reveal().matches("(sk|rk)_test_.*")).orElse(true);
  }

  public PaymentSettings withTimings(Timings timings) {
    return new PaymentSettings(stripeKey, apiBase, webhookSecret, answerTimeout, timings, faults);
  }

  public PaymentSettings withAnswerTimeout(Duration answerTimeout) {
    return new PaymentSettings(stripeKey, apiBase, webhookSecret, answerTimeout, timings, faults);
  }

  public PaymentSettings withWebhookSecret(Secret secret) {
    return new PaymentSettings(
        stripeKey, apiBase, Optional.of(secret), answerTimeout, timings, faults);
  }

  private static GatewayFaults parseFaults(String json) {
    try {
      return GatewayFaults.parse(json);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("is refused: " + e.getMessage(), e);
    }
  }

  private static URI parseBase(String text) {
    try {
      URI base = new URI(text);
      boolean http = "http".equals(base.getScheme()) || "https".equals(base.getScheme());
      if (http
          && base.getHost() != null
          && base.getQuery() == null
          && base.getRawUserInfo() == null) {
        return base;
      }
    } catch (URISyntaxException e) {
      // Answered below.
    }
    throw new IllegalArgumentException("must be an address such as " + PaymentsConfig.STRIPE);
  }
}
