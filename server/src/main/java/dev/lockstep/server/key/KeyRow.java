package dev.lockstep.server.key;

import dev.lockstep.server.api.Role;
import java.time.Instant;
import java.util.Optional;

/** A key as stored, without the key. */
record KeyRow(
    String id,
    String prefix,
    Role role,
    String name,
    Optional<String> buyer,
    Instant createdAt,
    Optional<Instant> expiresAt,
    Optional<Instant> revokedAt) {}
