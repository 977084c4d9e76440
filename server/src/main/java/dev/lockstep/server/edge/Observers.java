package dev.lockstep.server.edge;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.lockstep.server.api.Authenticator;
import dev.lockstep.server.api.Caller;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Role;
import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.security.MessageDigest;
import java.util.Locale;
import java.util.Optional;

/**
 * Decides who may read the server's status and metrics: programs on the same machine, operators,
 * and, for metrics, the holder of their token. Thread-safe.
 *
 * <p>A loopback connection is not enough: it may come from a proxy, or from a browser lured here
 * under another name. The request must also name this machine and show no trace of a proxy.
 */
public final class Observers {
  private static final String BEARER = "bearer ";

  private final Trust trust;

  public Observers(Trust trust) {
    this.trust = trust;
  }

  /** Whether the request sees operators' details without a key. */
  private boolean open(Caller caller) {
    return switch (trust.openTo()) {
      case NOBODY -> false;
      case LOOPBACK ->
          caller.direct()
              && caller.address().isLoopbackAddress()
              && caller.host().filter(HostName::loopback).isPresent();
      case EVERYBODY -> true;
    };
  }

  /**
   * Checks that the metrics may be read.
   *
   * @param keys empty while the server starts
   * @return fails with a problem when they may not
   */
  public Future<Void> requireMetrics(
      Caller caller, HttpServerRequest request, Optional<Authenticator> keys) {
    Optional<String> key = bearer(request);
    if (open(caller) || key.filter(this::isToken).isPresent()) {
      return Future.succeededFuture();
    }
    return operator(caller, key, keys)
        .map(
            operator -> {
              if (!operator) {
                throw Problem.unauthorized(
                        "Read metrics on the same machine, or with an operator's key or the"
                            + " metrics token: send 'Authorization: Bearer …'.")
                    .asException();
              }
              return null;
            });
  }

  /** Whether the request may see the details of a status. */
  public Future<Boolean> mayKnow(
      Caller caller, HttpServerRequest request, Optional<Authenticator> keys) {
    return open(caller)
        ? Future.succeededFuture(true)
        : operator(caller, bearer(request), keys).otherwise(false);
  }

  private static Future<Boolean> operator(
      Caller caller, Optional<String> key, Optional<Authenticator> keys) {
    if (key.isEmpty() || keys.isEmpty()) {
      return Future.succeededFuture(false);
    }
    try {
      return keys.get()
          .authenticate(key.get(), caller.network())
          .map(found -> found.filter(who -> who.role() == Role.OPERATOR).isPresent());
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  private boolean isToken(String key) {
    return trust
        .metricsToken()
        .filter(token -> MessageDigest.isEqual(token.reveal().getBytes(UTF_8), key.getBytes(UTF_8)))
        .isPresent();
  }

  private static Optional<String> bearer(HttpServerRequest request) {
    return Optional.ofNullable(request.getHeader(HttpHeaders.AUTHORIZATION))
        .filter(header -> header.toLowerCase(Locale.ROOT).startsWith(BEARER))
        .map(header -> header.substring(BEARER.length()).strip());
  }
}
