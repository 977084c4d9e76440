package dev.lockstep.hold;

/**
 * Identifies a campaign or a shop; carts, limits and batches stay inside one scope. Chosen by the
 * caller.
 */
public record ScopeId(long value) implements Comparable<ScopeId> {
  @Override
  public int compareTo(ScopeId other) {
    return Long.compare(value, other.value);
  }
}
