package dev.lockstep.cli.rush;

import java.net.URI;
import java.util.Optional;

/**
 * The parameters of a rush.
 *
 * @param url of the server
 * @param key of an operator, who may buy for anybody and check the invariants
 * @param campaign where to buy; empty: the first that has something for sale
 * @param buyers how many; each buys one item
 * @param atOnce how many buy at the same time
 */
public record RushPlan(URI url, String key, Optional<String> campaign, int buyers, int atOnce) {
  public static final int MAX_BUYERS = 100_000;
  public static final int MAX_AT_ONCE = 1_000;

  public RushPlan {
    if (buyers < 1 || buyers > MAX_BUYERS) {
      throw new IllegalArgumentException("buyers must be 1 to " + MAX_BUYERS + "");
    }
    if (atOnce < 1 || atOnce > MAX_AT_ONCE) {
      throw new IllegalArgumentException("atOnce must be 1 to " + MAX_AT_ONCE);
    }
  }

  /** Never the key. */
  @Override
  public String toString() {
    return buyers + " buyers at " + url;
  }
}
