package dev.lockstep.server.edge;

/**
 * The headers in which trusted proxies name the client. A proxy writes one family and passes the
 * other through as the client sent it.
 */
public enum ProxyHeader {
  /** {@code X-Forwarded-For}, {@code X-Forwarded-Proto} and {@code X-Forwarded-Host}. */
  X_FORWARDED,
  /** {@code Forwarded}, RFC 7239. */
  FORWARDED,
  /** Whichever is present; neither if both are present and disagree. */
  EITHER
}
