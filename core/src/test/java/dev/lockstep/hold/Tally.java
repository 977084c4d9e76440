package dev.lockstep.hold;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** How often each outcome came: {@code {Granted=100, SoldOut=900}}. */
final class Tally {
  private Tally() {}

  static Map<String, Integer> of(List<? extends HoldOutcome> outcomes) {
    Map<String, Integer> tally = new TreeMap<>();
    outcomes.forEach(outcome -> tally.merge(outcome.getClass().getSimpleName(), 1, Integer::sum));
    return tally;
  }
}
