package dev.lockstep.hold;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Brings a cart's lines into canonical form: one line per pool, pools ascending. */
final class Lines {
  static final int MAX_LINES = 100;

  private Lines() {}

  /**
   * Sums lines of the same pool, so that checks see the whole quantity.
   *
   * @throws IllegalArgumentException for no lines, too many lines, or a sum beyond a line's maximum
   */
  static List<Line> canonical(List<Line> lines) {
    if (lines.isEmpty() || lines.size() > MAX_LINES) {
      throw new IllegalArgumentException(
          "A cart must have 1 to %d lines, not %d".formatted(MAX_LINES, lines.size()));
    }
    Map<PoolId, Line> byPool = new TreeMap<>();
    for (Line line : lines) {
      byPool.merge(line.pool(), line, Lines::sum);
    }
    return List.copyOf(byPool.values());
  }

  private static Line sum(Line a, Line b) {
    if (a.units().isEmpty() != b.units().isEmpty()) {
      throw new IllegalArgumentException("Lines of one pool must all name units, or none of them");
    }
    List<Integer> units = new ArrayList<>(a.units());
    units.addAll(b.units());
    return new Line(a.pool(), Math.addExact(a.quantity(), b.quantity()), units);
  }

  /**
   * Whether a hold has exactly the expected lines; an empty expectation accepts any.
   *
   * @param expected canonical
   */
  static boolean agree(List<Line> expected, List<HeldLine> held) {
    if (expected.isEmpty()) {
      return true;
    }
    if (expected.size() != held.size()) {
      return false;
    }
    for (int i = 0; i < held.size(); i++) {
      Line wanted = expected.get(i);
      HeldLine has = held.get(i);
      boolean same =
          wanted.pool().equals(has.pool())
              && wanted.quantity() == has.quantity()
              && (wanted.units().isEmpty()
                  || new HashSet<>(wanted.units()).equals(new HashSet<>(has.units())));
      if (!same) {
        return false;
      }
    }
    return true;
  }

  /** A hold's lines in two parts. */
  record Split(List<HeldLine> taken, List<HeldLine> left) {}

  /**
   * Takes a part from a hold's lines; empty if they do not have it.
   *
   * @param part canonical; empty: all of it
   */
  static Optional<Split> split(List<HeldLine> held, List<Line> part) {
    if (part.isEmpty()) {
      return Optional.of(new Split(held, List.of()));
    }
    List<HeldLine> taken = new ArrayList<>();
    List<HeldLine> left = new ArrayList<>();
    Map<PoolId, Line> wanted = new TreeMap<>();
    part.forEach(line -> wanted.put(line.pool(), line));
    for (HeldLine has : held) {
      Line wants = wanted.remove(has.pool());
      if (wants == null) {
        left.add(has);
        continue;
      }
      List<Integer> units = unitsOf(has, wants);
      if (wants.quantity() > has.quantity() || !new HashSet<>(has.units()).containsAll(units)) {
        return Optional.empty();
      }
      taken.add(new HeldLine(has.pool(), wants.quantity(), units));
      if (wants.quantity() < has.quantity()) {
        List<Integer> rest = new ArrayList<>(has.units());
        rest.removeAll(new HashSet<>(units));
        left.add(new HeldLine(has.pool(), has.quantity() - wants.quantity(), rest));
      }
    }
    return wanted.isEmpty() ? Optional.of(new Split(taken, left)) : Optional.empty();
  }

  /** The last units, if the part names none. */
  private static List<Integer> unitsOf(HeldLine has, Line wants) {
    List<Integer> units = has.units();
    return wants.units().isEmpty() && !units.isEmpty() && wants.quantity() <= units.size()
        ? units.subList(units.size() - wants.quantity(), units.size())
        : wants.units();
  }

  static int quantityOf(List<Line> lines) {
    return lines.stream().mapToInt(Line::quantity).sum();
  }
}
