package dev.lockstep.server;

import dev.lockstep.server.key.Secret;
import dev.lockstep.server.outgoing.OutgoingConfig;
import dev.lockstep.server.setting.Kind;
import dev.lockstep.server.setting.SettingReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How webhooks are delivered to.
 *
 * @param outgoing where to, and how patiently
 * @param signingKeys what receivers' secrets are derived from, the newest first; empty: the
 *     database's
 * @param firstBackoff longest wait after the first failure; doubles with each
 */
record DeliverySettings(OutgoingConfig outgoing, List<Secret> signingKeys, Duration firstBackoff) {
  private static final Kind<List<Secret>> SIGNING_KEYS =
      Kind.of(
          "32 to 512 printable ASCII characters without spaces; while one replaces another, both"
              + " with a comma between, the new one first",
          "x".repeat(32),
          DeliverySettings::signingKeys,
          keys -> "hidden");

  static final DeliverySettings DEFAULT =
      new DeliverySettings(OutgoingConfig.DEFAULT, List.of(), Duration.ofSeconds(1));

  DeliverySettings {
    signingKeys = List.copyOf(signingKeys);
  }

  static DeliverySettings read(SettingReader in) {
    in.group("Webhooks");
    OutgoingConfig usual = OutgoingConfig.DEFAULT;
    boolean privateTargets =
        in.read(
            "allow-private-targets",
            Kind.yesOrNo(),
            usual.allowPrivateTargets(),
            "Whether webhooks may lead to this machine and its private networks.");
    Optional<List<Secret>> signingKeys =
        in.readSecret(
            "webhook.secret",
            SIGNING_KEYS,
            "a secret is made and kept in the database",
            "What the secrets of webhook receivers are derived from.");
    Duration connect =
        in.read(
            "webhook.connect-timeout",
            Kind.duration(Duration.ofMillis(100), Duration.ofMinutes(1)),
            usual.connectTimeout(),
            "How long connecting to a receiver may take.");
    Duration total =
        in.read(
            "webhook.timeout",
            Kind.duration(Duration.ofMillis(100), Duration.ofMinutes(5)),
            usual.totalTimeout(),
            "How long a delivery may take in all, from the receiver's name to the end of its answer.");
    in.require(
        connect.compareTo(total) <= 0,
        "webhook.connect-timeout",
        "must not exceed",
        "webhook.timeout",
        "the delivery would end before its connection does");
    long answer =
        in.read(
            "webhook.max-answer",
            Kind.size(1024, 16 * 1024 * 1024),
            (long) usual.maxAnswerBytes(),
            "How much of a receiver's answer is read; the rest is cut off.");
    int connections =
        in.read(
            "webhook.connections",
            Kind.number(1, 1_000),
            usual.connections(),
            "How many connections one receiver gets at a time.");
    Duration firstBackoff =
        in.read(
            "webhook.first-backoff",
            Kind.duration(Duration.ofMillis(10), Duration.ofHours(1)),
            DEFAULT.firstBackoff(),
            "The longest wait after a delivery's first failure; it doubles with each.");
    OutgoingConfig outgoing =
        new OutgoingConfig(
            privateTargets,
            connect,
            total,
            Math.toIntExact(answer),
            connections,
            usual.resolver(),
            usual.trust());
    return new DeliverySettings(outgoing, signingKeys.orElse(List.of()), firstBackoff);
  }

  DeliverySettings withOutgoing(OutgoingConfig outgoing) {
    return new DeliverySettings(outgoing, signingKeys, firstBackoff);
  }

  DeliverySettings withSigningKeys(List<Secret> signingKeys) {
    return new DeliverySettings(outgoing, signingKeys, firstBackoff);
  }

  DeliverySettings withFirstBackoff(Duration firstBackoff) {
    return new DeliverySettings(outgoing, signingKeys, firstBackoff);
  }

  private static List<Secret> signingKeys(String value) {
    List<Secret> secrets = new ArrayList<>();
    for (String secret : value.split(",", -1)) {
      if (!secret.matches("[\\x21-\\x7e]{32,512}")) {
        throw new IllegalArgumentException();
      }
      secrets.add(Secret.of(secret));
    }
    return secrets;
  }
}
