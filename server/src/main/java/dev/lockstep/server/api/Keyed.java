package dev.lockstep.server.api;

import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.OnceKey;

/** A request with an idempotency key. */
public interface Keyed {
  OnceKey key();

  Fingerprint fingerprint();
}
