package dev.lockstep.hold;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The lines of a cart in their one canonical form: one line a pool, pools ascending. */
final class Lines {
  static final int MAX_LINES = 100;

  private Lines() {}

  /**
   * Lines of the same pool are summed first, so that no check is made on a part.
   *
   * @throws IllegalArgumentException for no line, too many, or a sum beyond a line's maximum
   */
  static List<Line> canonical(List<Line> lines) {
    if (lines.isEmpty() || lines.size() > MAX_LINES) {
      throw new IllegalArgumentException(
          "A cart has 1 to %d lines, not %d".formatted(MAX_LINES, lines.size()));
    }
    Map<PoolId, Line> byPool = new TreeMap<>();
    for (Line line : lines) {
      byPool.merge(line.pool(), line, Lines::sum);
    }
    return List.copyOf(byPool.values());
  }

  private static Line sum(Line a, Line b) {
    if (a.units().isEmpty() != b.units().isEmpty()) {
      throw new IllegalArgumentException(
          "Lines of one pool either all name their units or none does");
    }
    List<Integer> units = new ArrayList<>(a.units());
    units.addAll(b.units());
    return new Line(a.pool(), Math.addExact(a.quantity(), b.quantity()), units);
  }

  static int quantityOf(List<Line> lines) {
    return lines.stream().mapToInt(Line::quantity).sum();
  }
}
