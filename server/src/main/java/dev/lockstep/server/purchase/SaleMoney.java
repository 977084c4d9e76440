package dev.lockstep.server.purchase;

import dev.lockstep.server.payment.Money;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Money of a purchase that came in or went back.
 *
 * @param refunded whether it went back
 */
public record SaleMoney(UUID purchase, Money amount, boolean refunded) {

  /**
   * The money moved by steps.
   *
   * @param taken the purchases whose step was taken
   */
  static List<SaleMoney> of(Collection<Change> changes, Set<UUID> taken) {
    return changes.stream()
        .filter(change -> taken.contains(change.before().id().value()))
        .filter(change -> received(change) || refunded(change))
        .map(
            change ->
                new SaleMoney(
                    change.before().id().value(), change.before().total(), refunded(change)))
        .toList();
  }

  private static boolean received(Change change) {
    return change.after().paid() && !change.before().paid();
  }

  private static boolean refunded(Change change) {
    return change.after().status() == Status.REFUNDED
        && change.before().status() != Status.REFUNDED;
  }
}
