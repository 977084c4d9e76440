package dev.lockstep.server.api;

import java.util.Optional;

/**
 * Who is asking.
 *
 * @param keyId the key that was shown
 * @param buyer the buyer the key stands for; present exactly for {@link Role#BUYER}
 * @param visitor a buyer whom the shop let in without anybody vouching for them
 */
public record Principal(Role role, String keyId, Optional<String> buyer, boolean visitor) {
  public Principal {
    if (buyer.isPresent() != (role == Role.BUYER)) {
      throw new IllegalArgumentException("exactly a buyer's key names a buyer");
    }
  }

  public Principal(Role role, String keyId, Optional<String> buyer) {
    this(role, keyId, buyer, false);
  }

  /** The name written to audits and idempotency rows. A buyer keeps it when the key changes. */
  public String name() {
    return role.label() + ":" + buyer.orElse(keyId);
  }
}
