package dev.lockstep.server.setting;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the known name that was probably meant. */
public final class NearestName {
  private static final int MAX_LENGTH = 200;

  private NearestName() {}

  /** Empty if nothing is near: half of the name or more would have to change. */
  public static Optional<String> of(String written, Collection<String> known) {
    return known.stream()
        .filter(name -> written.length() <= MAX_LENGTH)
        .filter(name -> distance(written, name) <= Math.max(1, name.length() / 2 - 1))
        .min(
            Comparator.<String>comparingInt(name -> distance(written, name))
                .thenComparing(Comparator.naturalOrder()));
  }

  /** Letters to add, drop, replace, or swap with their neighbour; in any case. */
  static int distance(String first, String second) {
    String a = first.toLowerCase(Locale.ROOT);
    String b = second.toLowerCase(Locale.ROOT);
    int[][] cost = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          cost[i][j] = i + j;
          continue;
        }
        boolean same = a.charAt(i - 1) == b.charAt(j - 1);
        int least = Math.min(cost[i - 1][j], cost[i][j - 1]) + 1;
        least = Math.min(least, cost[i - 1][j - 1] + (same ? 0 : 1));
        boolean swapped =
            i > 1
                && j > 1
                && a.charAt(i - 1) == b.charAt(j - 2)
                && a.charAt(i - 2) == b.charAt(j - 1);
        cost[i][j] = swapped ? Math.min(least, cost[i - 2][j - 2] + 1) : least;
      }
    }
    return cost[a.length()][b.length()];
  }
}
