package dev.lockstep.prove.check;

import dev.lockstep.prove.history.Op;
import java.util.List;

/**
 * A broken promise.
 *
 * @param rule names the promise; the same for every instance of it
 * @param part what it is about: a pool, a key, an account
 * @param message what is wrong, for people
 * @param witness the calls that show it, if few do
 */
public record Violation(
    String checker, String rule, String part, String message, List<Op> witness) {
  private static final String UNDECIDED = "undecided";

  /** Not a violation: the search for an order was given up. */
  static Violation undecided(String checker, String part) {
    return new Violation(checker, UNDECIDED, part, "the search was given up", List.of());
  }

  boolean isUndecided() {
    return rule.equals(UNDECIDED);
  }

  @Override
  public String toString() {
    return "%s: %s (%s): %s".formatted(checker, rule, part, message);
  }
}
