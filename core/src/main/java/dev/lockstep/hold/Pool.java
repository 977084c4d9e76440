package dev.lockstep.hold;

import java.util.Optional;

/**
 * A pool's current content.
 *
 * @param hasUnits distinct units rather than a mere count
 * @param pauseReason why buyers cannot take from it; empty unless paused
 */
public record Pool(
    ScopeId scope, PoolCounts counts, boolean hasUnits, Optional<String> pauseReason) {
  public PoolId id() {
    return counts.pool();
  }
}
