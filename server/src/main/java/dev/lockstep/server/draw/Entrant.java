package dev.lockstep.server.draw;

import java.util.regex.Pattern;

/** A sold position and the purchase it was sold with. Layer n is row n of the triangle. */
record Entrant(int layer, int column, String purchase) {
  /** Excludes comma and line break, which the canonical list uses as separators. */
  private static final Pattern PURCHASE = Pattern.compile("[\\x21-\\x2b\\x2d-\\x7e]{1,100}");

  Entrant {
    if (column < 1 || column > layer) {
      throw new IllegalArgumentException("Layer " + layer + " has no column " + column);
    }
    if (!PURCHASE.matcher(purchase).matches()) {
      throw new IllegalArgumentException("Not a purchase's id: " + purchase);
    }
  }

  /** The form in the canonical list, which the ranking hashes. */
  String position() {
    return layer + "," + layer + "," + column;
  }
}
