package dev.lockstep.bench;

/** The buyers of a load: each comes back twice, so that a limit has something to count. */
final class Names {
  private static final int PURCHASES_PER_BUYER = 3;

  private Names() {}

  static String buyer(long number) {
    return "buyer-" + number / PURCHASES_PER_BUYER;
  }

  static String key(long number) {
    return "key-" + number;
  }
}
