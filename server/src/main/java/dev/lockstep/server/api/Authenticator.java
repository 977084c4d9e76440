package dev.lockstep.server.api;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.Optional;

/** Tells whose a key is. Called on event loops, so neither method may block. */
public interface Authenticator {
  /** Empty for a key that is unknown, expired or revoked. */
  Future<Optional<Principal>> authenticate(String key);

  /** Counts a request; answers how long to wait when the principal has had its share. */
  Optional<Duration> admit(Principal principal);
}
