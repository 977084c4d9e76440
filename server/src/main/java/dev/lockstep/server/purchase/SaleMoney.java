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
 * @param part the number of the part that went back; 0: all of it, or it came in
 */
public record SaleMoney(UUID purchase, Money amount, boolean refunded, int part) {

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
                refunded(change)
                    ? back(change)
                    : new SaleMoney(
                        change.before().id().value(), change.before().total(), false, 0))
        .toList();
  }

  private static SaleMoney back(Change change) {
    Purchase before = change.before();
    long amount = change.after().moneyBack() - before.moneyBack();
    return new SaleMoney(
        before.id().value(),
        new Money(amount, before.total().currency()),
        true,
        before.partialRefunds().part().map(PartialRefunds.Part::number).orElse(0));
  }

  private static boolean received(Change change) {
    return change.after().paid() && !change.before().paid();
  }

  private static boolean refunded(Change change) {
    return change.after().moneyBack() > change.before().moneyBack();
  }
}
