package dev.lockstep.server.api;

import java.util.Optional;

/**
 * Who is asking.
 *
 * @param keyId the key that was shown
 * @param buyer the buyer the key stands for; present exactly for {@link Role#BUYER}
 */
public record Principal(Role role, String keyId, Optional<String> buyer) {
  public Principal {
    if (buyer.isPresent() != (role == Role.BUYER)) {
      throw new IllegalArgumentException("exactly a buyer's key names a buyer");
    }
  }

  /** The name written to audits and idempotency rows. A buyer keeps it when the key changes. */
  public String name() {
    return role.label() + ":" + buyer.orElse(keyId);
  }
}
