package dev.lockstep.server;

import dev.lockstep.server.key.Secret;
import dev.lockstep.server.mail.SmtpConfig;
import dev.lockstep.server.mail.SmtpConfig.Tls;
import java.util.Map;
import java.util.Optional;

/** How mail is sent, from the environment. */
final class SmtpSettings {
  private static final String HOST = "LOCKSTEP_SMTP_HOST";
  private static final String PORT = "LOCKSTEP_SMTP_PORT";
  private static final String TLS = "LOCKSTEP_SMTP_TLS";
  private static final String USER = "LOCKSTEP_SMTP_USER";
  private static final String PASSWORD = "LOCKSTEP_SMTP_PASSWORD";
  private static final String FROM = "LOCKSTEP_SMTP_FROM";

  private SmtpSettings() {}

  /** An empty variable counts as unset; without a host there is no mail. */
  static Optional<SmtpConfig> of(Map<String, String> environment) {
    String host = environment.getOrDefault(HOST, "");
    if (host.isEmpty()) {
      return Optional.empty();
    }
    String from = environment.getOrDefault(FROM, "");
    if (from.isEmpty()) {
      throw new WrongUse(HOST + " needs " + FROM + ", the sender of all mail");
    }
    Tls tls = tls(environment.getOrDefault(TLS, ""));
    String user = environment.getOrDefault(USER, "");
    String password = environment.getOrDefault(PASSWORD, "");
    if (user.isEmpty() != password.isEmpty()) {
      throw new WrongUse(USER + " and " + PASSWORD + " are set together, or neither is");
    }
    try {
      SmtpConfig config =
          SmtpConfig.of(host, port(environment.getOrDefault(PORT, ""), tls), tls, from);
      return Optional.of(user.isEmpty() ? config : config.withLogin(user, Secret.of(password)));
    } catch (IllegalArgumentException e) {
      throw new WrongUse(FROM + " and " + PORT + ": " + e.getMessage());
    }
  }

  private static Tls tls(String value) {
    return switch (value) {
      case "", "starttls" -> Tls.STARTTLS;
      case "tls" -> Tls.TLS;
      case "none" -> Tls.NONE;
      default -> throw new WrongUse(TLS + " must be starttls, tls or none");
    };
  }

  private static int port(String value, Tls tls) {
    if (value.isEmpty()) {
      return tls == Tls.TLS ? 465 : 587;
    }
    if (!value.matches("\\d{1,5}")) {
      throw new WrongUse(PORT + " must be a number");
    }
    return Integer.parseInt(value);
  }
}
