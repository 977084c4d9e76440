package dev.lockstep.server.draw;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.lockstep.sql.Sha256;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** The entrants in canonical order, with the canonical text that is hashed. Immutable. */
record EntrantList(List<Entrant> entrants) {
  EntrantList {
    entrants =
        entrants.stream()
            .sorted(Comparator.comparingInt(Entrant::layer).thenComparingInt(Entrant::column))
            .toList();
  }

  static EntrantList parse(String canonical) {
    return new EntrantList(canonical.lines().map(EntrantList::parseLine).toList());
  }

  /** One line per entrant: layer, row, column, purchase. */
  String canonical() {
    return entrants.stream()
        .map(entrant -> entrant.position() + "," + entrant.purchase() + "\n")
        .collect(Collectors.joining());
  }

  byte[] hash() {
    return Sha256.of(canonical().getBytes(US_ASCII));
  }

  private static Entrant parseLine(String line) {
    String[] parts = line.split(",", -1);
    return new Entrant(Integer.parseInt(parts[0]), Integer.parseInt(parts[2]), parts[3]);
  }
}
