package dev.lockstep.cli.rush;

import java.net.URI;
import java.util.Optional;

/**
 * What a rush does.
 *
 * @param url where the server is
 * @param key of an operator: buys for anybody, and may have the invariants checked
 * @param campaign where to buy; empty: the first that has something for sale
 * @param buyers how many, each of whom buys one thing
 * @param atOnce how many of them at the same time
 */
public record RushPlan(URI url, String key, Optional<String> campaign, int buyers, int atOnce) {
  public static final int MAX_BUYERS = 100_000;
  public static final int MAX_AT_ONCE = 1_000;

  public RushPlan {
    if (buyers < 1 || buyers > MAX_BUYERS) {
      throw new IllegalArgumentException("A rush has 1 to " + MAX_BUYERS + " buyers");
    }
    if (atOnce < 1 || atOnce > MAX_AT_ONCE) {
      throw new IllegalArgumentException("1 to " + MAX_AT_ONCE + " buyers come at once");
    }
  }

  /** Never the key. */
  @Override
  public String toString() {
    return buyers + " buyers at " + url;
  }
}
