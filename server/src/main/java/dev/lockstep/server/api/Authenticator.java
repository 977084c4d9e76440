package dev.lockstep.server.api;

import dev.lockstep.server.rate.Allowance;
import io.vertx.core.Future;
import java.util.Optional;

/** Tells whose a key is. Called on event loops, so neither method may block. */
public interface Authenticator {
  /**
   * Empty for a key that is unknown, expired or revoked.
   *
   * @param network where the request comes from; the future fails with a problem when too many keys
   *     from there were not known
   */
  Future<Optional<Principal>> authenticate(String key, String network);

  /**
   * Counts a request. Empty where there is no limit.
   *
   * @param network counted by for somebody without a key
   */
  Optional<Allowance> admit(Optional<Principal> principal, String network);
}
