package dev.lockstep.server.mail;

import dev.lockstep.server.key.Secret;
import java.time.Duration;
import java.util.Optional;

/**
 * How mail is sent.
 *
 * @param host the SMTP server; it may be a private one, since the operator chose it
 * @param port 587 unless told; 465 with {@link Tls#TLS}
 * @param tls whether the connection is encrypted, and how (STARTTLS)
 * @param login who we are to the server; empty: it asks nobody
 * @param from the sender of all mail: an address, or a name and an address in angle brackets
 * @param connections at a time (8)
 * @param connectTimeout until there is a connection (5 s)
 * @param totalTimeout for a whole message; also how long the server may be silent (30 s)
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
    /** Begins in the clear and must change before anything is said; else nothing is sent. */
    STARTTLS,
    /** From the first byte. */
    TLS,
    /** Not at all: for a server on this machine or in the same private network. */
    NONE
  }

  public record Login(String user, Secret password) {}

  private static final int MAX_PORT = 65_535;
  private static final int MAX_CONNECTIONS = 100;

  public SmtpConfig {
    if (host.isBlank() || port < 1 || port > MAX_PORT) {
      throw new IllegalArgumentException("host is not empty, port 1 to " + MAX_PORT);
    }
    if (!MailAddress.isNamed(from)) {
      throw new IllegalArgumentException(
          "from is an address, or a name and an address: The shop <shop@example.com>");
    }
    if (connections < 1 || connections > MAX_CONNECTIONS) {
      throw new IllegalArgumentException("connections is 1 to " + MAX_CONNECTIONS);
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
