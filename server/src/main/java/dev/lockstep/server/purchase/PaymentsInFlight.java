package dev.lockstep.server.purchase;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The purchases that this node is paying for, and completed ones whose event is still to come.
 * Nearly every event concerns one of them and says nothing new. What is forgotten here, or done by
 * another node, is found in the table. Thread-safe.
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
   * Remembers a payment until its event is taken, or until it ends without completing.
   *
   * @param payment the purchase once this node has done what it can
   * @return the same stage, completed after its result is recorded here
   */
  CompletionStage<Purchase> add(PurchaseId id, CompletionStage<Purchase> payment) {
    payments.put(id, payment);
    return payment.whenComplete(
        (purchase, thrown) -> {
          if (thrown != null || purchase.status() != PurchaseStatus.COMPLETED) {
            payments.remove(id, payment);
          }
        });
  }

  /** Returns it once; later calls get nothing. */
  Optional<CompletionStage<Purchase>> take(PurchaseId id) {
    return Optional.ofNullable(payments.remove(id));
  }
}
