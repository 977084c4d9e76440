package dev.lockstep.server.outgoing;

import io.vertx.core.net.TrustOptions;
import java.time.Duration;
import java.util.Optional;

/**
 * How requests are sent.
 *
 * @param allowPrivateTargets whether addresses of this machine and its networks are allowed (false)
 * @param connectTimeout for the connection, TLS included (5 s)
 * @param totalTimeout from the name look-up to the end of the answer (15 s)
 * @param maxAnswerBytes how much of an answer is read; the rest is cut off (64 KiB)
 * @param connections per receiver at once (32)
 * @param resolver looks up addresses; by default the system's
 * @param trust trusted certificates; empty means those the JVM trusts
 */
public record OutgoingConfig(
    boolean allowPrivateTargets,
    Duration connectTimeout,
    Duration totalTimeout,
    int maxAnswerBytes,
    int connections,
    Resolver resolver,
    Optional<TrustOptions> trust) {
  public static final OutgoingConfig DEFAULT =
      new OutgoingConfig(
          false,
          Duration.ofSeconds(5),
          Duration.ofSeconds(15),
          64 * 1024,
          32,
          Resolver.SYSTEM,
          Optional.empty());

  public OutgoingConfig {
    if (connectTimeout.toMillis() < 1 || totalTimeout.compareTo(connectTimeout) < 0) {
      throw new IllegalArgumentException("1 ms <= connectTimeout <= totalTimeout");
    }
    if (maxAnswerBytes < 1 || connections < 1) {
      throw new IllegalArgumentException("maxAnswerBytes and connections must be at least 1");
    }
  }

  public OutgoingConfig withPrivateTargets(boolean allowed) {
    return new OutgoingConfig(
        allowed, connectTimeout, totalTimeout, maxAnswerBytes, connections, resolver, trust);
  }

  public OutgoingConfig withTimeouts(Duration connect, Duration total) {
    return new OutgoingConfig(
        allowPrivateTargets, connect, total, maxAnswerBytes, connections, resolver, trust);
  }

  public OutgoingConfig withMaxAnswerBytes(int bytes) {
    return new OutgoingConfig(
        allowPrivateTargets, connectTimeout, totalTimeout, bytes, connections, resolver, trust);
  }

  public OutgoingConfig withResolver(Resolver another) {
    return new OutgoingConfig(
        allowPrivateTargets,
        connectTimeout,
        totalTimeout,
        maxAnswerBytes,
        connections,
        another,
        trust);
  }

  public OutgoingConfig withTrust(TrustOptions authorities) {
    return new OutgoingConfig(
        allowPrivateTargets,
        connectTimeout,
        totalTimeout,
        maxAnswerBytes,
        connections,
        resolver,
        Optional.of(authorities));
  }
}
