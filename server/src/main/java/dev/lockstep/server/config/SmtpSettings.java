package dev.lockstep.server.config;

import dev.lockstep.server.key.Secret;
import dev.lockstep.server.mail.MailAddress;
import dev.lockstep.server.mail.SmtpConfig;
import dev.lockstep.server.mail.SmtpConfig.Tls;
import dev.lockstep.server.setting.Kind;
import dev.lockstep.server.setting.SettingReader;
import java.util.Optional;

/** How mail is sent; without a server, not at all. */
final class SmtpSettings {
  private static final int PORT = 587;
  private static final int PORT_WITH_TLS = 465;

  private static final Kind<String> HOST =
      Kind.text("[^\\s,/]{1,253}", "a host name or address", "mail.example.com");

  private static final Kind<String> FROM =
      Kind.of(
          "an address, or a name and an address: The shop <shop@example.com>",
          "shop@example.com",
          SmtpSettings::sender,
          from -> from);

  private static final Kind<String> USER =
      Kind.text("[\\x20-\\x7e]{1,256}", "1 to 256 printable ASCII characters", "shop");

  private static final Kind<Secret> PASSWORD =
      Kind.of(
          "1 to 512 printable ASCII characters",
          "a password",
          SmtpSettings::password,
          password -> "hidden");

  private SmtpSettings() {}

  static Optional<SmtpConfig> read(SettingReader in) {
    in.group("Mail");
    Optional<String> host =
        in.readOptional("smtp.host", HOST, "no mail", "The server that takes our mail.");
    Tls tls =
        switch (in.read(
            "smtp.tls",
            Kind.choice("starttls", "tls", "none"),
            "starttls",
            "How the connection to it is encrypted.")) {
          case "tls" -> Tls.TLS;
          case "none" -> Tls.NONE;
          default -> Tls.STARTTLS;
        };
    int port =
        in.read(
            "smtp.port",
            Kind.number(1, 65_535),
            tls == Tls.TLS ? PORT_WITH_TLS : PORT,
            "587, or 465 with smtp.tls = tls",
            "The port of that server.");
    Optional<String> from =
        in.readOptional("smtp.from", FROM, "no mail", "The sender of all mail.");
    Optional<String> user =
        in.readOptional("smtp.user", USER, "no login", "The user name at that server.");
    Optional<Secret> password =
        in.readSecret("smtp.password", PASSWORD, "no login", "The password of smtp.user.");
    in.require(
        host.isEmpty() || from.isPresent(),
        "smtp.host",
        "needs",
        "smtp.from",
        "all mail has a sender");
    in.require(
        user.isPresent() == password.isPresent(),
        "smtp.user",
        "goes with",
        "smtp.password",
        "set both, or neither");
    if (host.isEmpty() || from.isEmpty()) {
      return Optional.empty();
    }
    SmtpConfig config = SmtpConfig.of(host.get(), port, tls, from.get());
    return Optional.of(
        user.isPresent() && password.isPresent()
            ? config.withLogin(user.get(), password.get())
            : config);
  }

  private static String sender(String text) {
    if (!MailAddress.isNamed(text)) {
      throw new IllegalArgumentException();
    }
    return text;
  }

  private static Secret password(String text) {
    if (!text.matches("[\\x20-\\x7e]{1,512}")) {
      throw new IllegalArgumentException();
    }
    return Secret.of(text);
  }
}
