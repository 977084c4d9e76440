package dev.lockstep.server.purchase;

import dev.lockstep.server.api.StoredAnswer;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A step of a purchase, to be written.
 *
 * @param from the statuses in which the step may still be taken
 * @param answer for the request that made the purchase, unless it has one; null if there is none
 *     yet
 * @param event the provider's event that led to the step; it is used up only if the step is taken
 */
record Change(
    Purchase before,
    Set<PurchaseStatus> from,
    Purchase after,
    @Nullable String answer,
    Optional<String> event) {

  /** A step that gives the request its answer. */
  static Change answering(Purchase before, Set<PurchaseStatus> from, Purchase after) {
    return new Change(
        before, from, after, StoredAnswer.text(PurchaseView.answer(after)), Optional.empty());
  }

  /** An intermediate step. */
  static Change silent(Purchase before, Set<PurchaseStatus> from, Purchase after) {
    return new Change(before, from, after, null, Optional.empty());
  }

  /** The end of the refund of a part, after which the purchase is completed as before. */
  boolean isPart() {
    return before.status() == PurchaseStatus.REFUNDING
        && after.status() == PurchaseStatus.COMPLETED;
  }

  /** How the purchase ended, as a word. */
  String end() {
    return isPart() ? "partRefunded" : after.status().label();
  }

  Change on(Optional<String> event) {
    return new Change(before, from, after, answer, event);
  }
}
