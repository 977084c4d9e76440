package dev.lockstep.server.health;

/** How busy the connection pool is. */
public record PoolUse(int active, int idle, int waiting, int max) {
  double share() {
    return max == 0 ? 0 : (double) active / max;
  }
}
