package dev.lockstep.server.api;

import dev.lockstep.server.rate.Allowance;
import io.vertx.core.Future;
import java.util.Optional;

/** Resolves keys to principals. Called on event loops, so neither method may block. */
public interface Authenticator {
  /**
   * Empty for a key that is unknown, expired or revoked.
   *
   * @param network where the request comes from; the future fails with a problem after too many
   *     unknown keys from there
   */
  Future<Optional<Principal>> authenticate(String key, String network);

  /**
   * Counts a request. Empty if no limit applies.
   *
   * @param network counted for callers without a key
   */
  Optional<Allowance> admit(Optional<Principal> principal, String network);
}
