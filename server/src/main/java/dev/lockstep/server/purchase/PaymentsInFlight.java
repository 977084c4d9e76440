package dev.lockstep.server.purchase;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The purchases that this node is paying for, and those it has completed whose event is still to
 * come. Nearly every event is about one of them and tells nothing new, or would do a second time
 * what is being done. What is forgotten here, or another node does, is found in the table.
 * Thread-safe.
 */
final class PaymentsInFlight {
  /** Events come within seconds; without a webhook there are none. */
  private static final int REMEMBERED = 50_000;

  private final Map<PurchaseId, CompletionStage<Purchase>> payments =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(
                Map.Entry<PurchaseId, CompletionStage<Purchase>> eldest) {
              return size() > REMEMBERED;
            }
          });

  /**
   * Remembers a payment until its event is taken, or it has ended otherwise than completed.
   *
   * @param payment the purchase as it is when this node has done what it could
   * @return the same, after it is known here how it ended
   */
  CompletionStage<Purchase> add(PurchaseId id, CompletionStage<Purchase> payment) {
    payments.put(id, payment);
    return payment.whenComplete(
        (purchase, thrown) -> {
          if (thrown != null || purchase.status() != Status.COMPLETED) {
            payments.remove(id, payment);
          }
        });
  }

  /** Once: whoever asks again is told that there is nothing. */
  Optional<CompletionStage<Purchase>> take(PurchaseId id) {
    return Optional.ofNullable(payments.remove(id));
  }
}
