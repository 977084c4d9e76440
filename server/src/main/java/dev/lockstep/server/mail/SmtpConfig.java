package dev.lockstep.server.mail;

import dev.lockstep.server.key.Secret;
import java.time.Duration;
import java.util.Optional;

/**
 * How mail is sent.
 *
 * @param host the SMTP server; private addresses are fine, since the operator chose it
 * @param port default 587; 465 with {@link Tls#TLS}
 * @param tls whether and how the connection is encrypted (STARTTLS)
 * @param login our credentials; empty if the server asks for none
 * @param from the sender: an address, optionally with a name before angle brackets
 * @param connections at once (8)
 * @param connectTimeout (5 s)
 * @param totalTimeout for a whole message, and for a silent server (30 s)
 */
public record SmtpConfig(
    String host,
    int port,
    Tls tls,
    Optional<Login> login,
    String from,
    int connections,
    Duration connectTimeout,
    Duration totalTimeout) {

  /** How a connection is encrypted. */
  public enum Tls {
    /** Starts in clear and upgrades before anything is sent; otherwise sends nothing. */
    STARTTLS,
    /** From the first byte. */
    TLS,
    /** Unencrypted, for a server on this machine or in the same private network. */
    NONE
  }

  public record Login(String user, Secret password) {}

  private static final int MAX_PORT = 65_535;
  private static final int MAX_CONNECTIONS = 100;

  public SmtpConfig {
    if (host.isBlank() || port < 1 || port > MAX_PORT) {
      throw new IllegalArgumentException("host must not be empty, port must be 1 to " + MAX_PORT);
    }
    if (!MailAddress.isNamed(from)) {
      throw new IllegalArgumentException(
          "from must be an address, or a name and an address: The shop <shop@example.com>");
    }
    if (connections < 1 || connections > MAX_CONNECTIONS) {
      throw new IllegalArgumentException("connections must be 1 to " + MAX_CONNECTIONS);
    }
    if (connectTimeout.toMillis() < 1 || totalTimeout.compareTo(connectTimeout) < 0) {
      throw new IllegalArgumentException("1 ms <= connectTimeout <= totalTimeout");
    }
  }

  public static SmtpConfig of(String host, int port, Tls tls, String from) {
    return new SmtpConfig(
        host, port, tls, Optional.empty(), from, 8, Duration.ofSeconds(5), Duration.ofSeconds(30));
  }

  public SmtpConfig withLogin(String user, Secret password) {
    return new SmtpConfig(
        host,
        port,
        tls,
        Optional.of(new Login(user, password)),
        from,
        connections,
        connectTimeout,
        totalTimeout);
  }

  public SmtpConfig withTimeouts(Duration connect, Duration total) {
    return new SmtpConfig(host, port, tls, login, from, connections, connect, total);
  }
}
