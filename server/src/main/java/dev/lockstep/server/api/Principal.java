package dev.lockstep.server.api;

import java.util.Optional;

/**
 * Who is asking.
 *
 * @param keyId the key that was shown
 * @param buyer the buyer the key stands for; there exactly for {@link Role#BUYER}
 */
public record Principal(Role role, String keyId, Optional<String> buyer) {
  public Principal {
    if (buyer.isPresent() != (role == Role.BUYER)) {
      throw new IllegalArgumentException("A buyer's key, and no other, stands for a buyer");
    }
  }

  /**
   * The name written to audits and idempotency rows. A buyer stays the same one with another key.
   */
  public String name() {
    return role.label() + ":" + buyer.orElse(keyId);
  }
}
