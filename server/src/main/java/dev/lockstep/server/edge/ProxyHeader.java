package dev.lockstep.server.edge;

/**
 * In which headers trusted proxies say whom they speak for. A proxy writes one family of them and
 * passes the other on as the client sent it.
 */
public enum ProxyHeader {
  /** {@code X-Forwarded-For}, {@code X-Forwarded-Proto} and {@code X-Forwarded-Host}. */
  X_FORWARDED,
  /** {@code Forwarded}, RFC 7239. */
  FORWARDED,
  /** The one that is there; neither if both are there and do not say the same. */
  EITHER
}
