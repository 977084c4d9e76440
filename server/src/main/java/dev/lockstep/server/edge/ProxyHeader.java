package dev.lockstep.server.edge;

/**
 * In which headers trusted proxies say whom they speak for. Only one family is read: a proxy writes
 * one and passes the other on as the client sent it.
 */
public enum ProxyHeader {
  /** {@code X-Forwarded-For}, {@code X-Forwarded-Proto} and {@code X-Forwarded-Host}. */
  X_FORWARDED,
  /** {@code Forwarded}, RFC 7239. */
  FORWARDED
}
