package dev.lockstep.server;

import dev.lockstep.server.delivery.DeliveryConfig;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.mail.SmtpConfig;
import dev.lockstep.server.outgoing.OutgoingConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How webhooks are delivered to, and mail is sent. No flags: other users of the machine can read a
 * process's arguments.
 *
 * @param outgoing where to, and how patiently
 * @param signingKeys what receivers' secrets are derived from, the newest first; empty: the
 *     database's
 * @param config how many at a time, and how failures are put off
 * @param smtp how mail is sent; empty: not at all
 */
record DeliverySettings(
    OutgoingConfig outgoing,
    List<Secret> signingKeys,
    DeliveryConfig config,
    Optional<SmtpConfig> smtp) {
  private static final String SECRET = "LOCKSTEP_WEBHOOK_SECRET";
  private static final String PRIVATE_TARGETS = "LOCKSTEP_ALLOW_PRIVATE_TARGETS";

  static final DeliverySettings DEFAULT =
      new DeliverySettings(
          OutgoingConfig.DEFAULT, List.of(), DeliveryConfig.DEFAULT, Optional.empty());

  DeliverySettings {
    signingKeys = List.copyOf(signingKeys);
  }

  /** An empty variable counts as unset. */
  static DeliverySettings of(Map<String, String> environment) {
    return DEFAULT
        .withOutgoing(
            OutgoingConfig.DEFAULT.withPrivateTargets(
                allowed(environment.getOrDefault(PRIVATE_TARGETS, ""))))
        .withSigningKeys(signingKeys(environment.getOrDefault(SECRET, "")))
        .withSmtp(SmtpSettings.of(environment));
  }

  DeliverySettings withOutgoing(OutgoingConfig outgoing) {
    return new DeliverySettings(outgoing, signingKeys, config, smtp);
  }

  DeliverySettings withSigningKeys(List<Secret> signingKeys) {
    return new DeliverySettings(outgoing, signingKeys, config, smtp);
  }

  DeliverySettings withConfig(DeliveryConfig config) {
    return new DeliverySettings(outgoing, signingKeys, config, smtp);
  }

  DeliverySettings withSmtp(Optional<SmtpConfig> smtp) {
    return new DeliverySettings(outgoing, signingKeys, config, smtp);
  }

  private static boolean allowed(String value) {
    return switch (value) {
      case "true" -> true;
      case "false", "" -> false;
      default -> throw new WrongUse(PRIVATE_TARGETS + " must be true or false");
    };
  }

  private static List<Secret> signingKeys(String value) {
    List<Secret> secrets = new ArrayList<>();
    if (!value.isEmpty()) {
      for (String secret : value.split(",", -1)) {
        if (!secret.matches("[\\x21-\\x7e]{32,512}")) {
          throw new WrongUse(
              SECRET
                  + " must be 32 to 512 printable ASCII characters without spaces; while one"
                  + " replaces another, both with a comma between, the new one first");
        }
        secrets.add(Secret.of(secret));
      }
    }
    return secrets;
  }
}
