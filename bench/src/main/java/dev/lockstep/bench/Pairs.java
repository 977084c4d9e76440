package dev.lockstep.bench;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The two accounts of a transfer: uniformly chosen, or skewed towards a few popular ones. The same
 * number gives the same pair.
 */
final class Pairs {
  // The likeliest of 100,000 is in 8 % of all draws, the ten likeliest in a quarter.
  private static final double ZIPF_EXPONENT = 1.0;

  private final int accounts;
  private final double[] cumulative;

  private Pairs(int accounts, double[] cumulative) {
    this.accounts = accounts;
    this.cumulative = cumulative;
  }

  record Pair(long from, long to) {}

  static Pairs even(int accounts) {
    return new Pairs(accounts, new double[0]);
  }

  static Pairs skewed(int accounts) {
    double[] cumulative = new double[accounts];
    double sum = 0;
    for (int i = 0; i < accounts; i++) {
      sum += 1 / Math.pow(i + 1, ZIPF_EXPONENT);
      cumulative[i] = sum;
    }
    return new Pairs(accounts, cumulative);
  }

  Pair of(long number) {
    SplittableRandom random = new SplittableRandom(number);
    int from = draw(random);
    int to = draw(random);
    while (to == from) {
      to = draw(random);
    }
    return new Pair(from + 1, to + 1);
  }

  private int draw(SplittableRandom random) {
    if (cumulative.length == 0) {
      return random.nextInt(accounts);
    }
    int found = Arrays.binarySearch(cumulative, random.nextDouble() * cumulative[accounts - 1]);
    return found >= 0 ? found : Math.min(accounts - 1, -found - 1);
  }
}
