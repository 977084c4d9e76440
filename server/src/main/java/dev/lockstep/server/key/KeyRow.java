package dev.lockstep.server.key;

import dev.lockstep.server.api.Role;
import java.time.Instant;
import java.util.Optional;

/** A key as stored, without its secret. */
record KeyRow(
    String id,
    String prefix,
    Role role,
    String name,
    Optional<String> buyer,
    Instant createdAt,
    String createdBy,
    Optional<Instant> expiresAt,
    Optional<Revoked> revoked) {

  /** When, by whom and why a key was revoked. */
  record Revoked(Instant at, String by, Optional<String> reason) {}
}
