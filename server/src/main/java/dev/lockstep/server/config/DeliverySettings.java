package dev.lockstep.server.config;

import dev.lockstep.server.delivery.DeliveryConfig;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.mail.SmtpConfig;
import dev.lockstep.server.outgoing.OutgoingConfig;
import dev.lockstep.server.setting.Kind;
import dev.lockstep.server.setting.SettingReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How webhooks and mail are delivered.
 *
 * @param outgoing allowed targets and timeouts
 * @param signingKeys the master secrets of receivers' secrets, newest first; empty: the database's
 * @param config concurrency and retries
 * @param smtp how mail is sent; empty: not at all
 */
public record DeliverySettings(
    OutgoingConfig outgoing,
    List<Secret> signingKeys,
    DeliveryConfig config,
    Optional<SmtpConfig> smtp) {
  private static final Kind<List<Secret>> SIGNING_KEYS =
      Kind.of(
          "32 to 512 printable ASCII characters without spaces; while one replaces another, both"
              + " with a comma between, the new one first",
          "x".repeat(32),
          DeliverySettings::signingKeys,
          keys -> "hidden");

  public static final DeliverySettings DEFAULT =
      new DeliverySettings(
          OutgoingConfig.DEFAULT, List.of(), DeliveryConfig.DEFAULT, Optional.empty());

  public DeliverySettings {
    signingKeys = List.copyOf(signingKeys);
  }

  public static DeliverySettings read(SettingReader in) {
    in.group("Webhooks");
    OutgoingConfig usual = OutgoingConfig.DEFAULT;
    boolean privateTargets =
        in.read(
            "allow-private-targets",
            Kind.yesOrNo(),
            usual.allowPrivateTargets(),
            "Whether webhooks may go to this machine and its private networks.");
    Optional<List<Secret>> signingKeys =
        in.readSecret(
            "webhook.secret",
            SIGNING_KEYS,
            "a secret is created and stored in the database",
            "The master secret from which the secrets of webhook receivers are derived.");
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
    OutgoingConfig outgoing =
        new OutgoingConfig(
            privateTargets,
            connect,
            total,
            Math.toIntExact(answer),
            connections,
            usual.resolver(),
            usual.trust());
    DeliveryConfig config = deliveries(in);
    return new DeliverySettings(
        outgoing, signingKeys.orElse(List.of()), config, SmtpSettings.read(in));
  }

  private static DeliveryConfig deliveries(SettingReader in) {
    DeliveryConfig usual = DeliveryConfig.DEFAULT;
    int concurrency =
        in.read(
            "webhook.concurrency",
            Kind.number(4, DeliveryConfig.MAX_CONCURRENCY),
            usual.concurrency(),
            "How many deliveries this server makes at a time.");
    int perReceiver =
        in.read(
            "webhook.per-receiver",
            Kind.number(2, DeliveryConfig.MAX_CONCURRENCY / 2),
            usual.perReceiver(),
            "How many deliveries one receiver gets at a time, over all servers.");
    in.require(
        perReceiver <= concurrency / 2,
        "webhook.per-receiver",
        "must not exceed half of",
        "webhook.concurrency",
        "one receiver would delay all others");
    Duration slowAfter =
        in.read(
            "webhook.slow-after",
            Kind.duration(Duration.ofMillis(10), Duration.ofMinutes(1)),
            usual.slowAfter(),
            "A receiver that takes longer is slow, and its deliveries step aside for others.");
    Duration maxAside =
        in.read(
            "webhook.max-aside",
            Kind.duration(Duration.ofMillis(100), Duration.ofMinutes(5)),
            usual.maxAside(),
            "How long a delivery to a slow receiver steps aside before it tries again, give or take half of it.");
    Duration firstBackoff =
        in.read(
            "webhook.first-backoff",
            Kind.duration(Duration.ofMillis(10), Duration.ofHours(1)),
            usual.firstBackoff(),
            "The longest wait after a delivery's first failure; it doubles with each.");
    return new DeliveryConfig(concurrency, perReceiver, slowAfter, maxAside, firstBackoff);
  }

  public DeliverySettings withOutgoing(OutgoingConfig outgoing) {
    return new DeliverySettings(outgoing, signingKeys, config, smtp);
  }

  public DeliverySettings withSigningKeys(List<Secret> signingKeys) {
    return new DeliverySettings(outgoing, signingKeys, config, smtp);
  }

  public DeliverySettings withConfig(DeliveryConfig config) {
    return new DeliverySettings(outgoing, signingKeys, config, smtp);
  }

  public DeliverySettings withSmtp(Optional<SmtpConfig> smtp) {
    return new DeliverySettings(outgoing, signingKeys, config, smtp);
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
