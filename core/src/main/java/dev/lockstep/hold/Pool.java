package dev.lockstep.hold;

import java.util.Optional;

/**
 * A pool as it stands.
 *
 * @param hasUnits distinct units rather than a mere count
 * @param pauseReason why nobody can take from it; empty: they can
 */
public record Pool(
    ScopeId scope, PoolCounts counts, boolean hasUnits, Optional<String> pauseReason) {
  public PoolId id() {
    return counts.pool();
  }
}
