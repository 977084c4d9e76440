package dev.lockstep.server.purchase;

import dev.lockstep.server.api.Workers;
import dev.lockstep.server.payment.IntentId;
import dev.lockstep.tx.Transactor;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** Reads and writes single purchases, outside batches. Thread-safe. */
record PurchaseStore(Transactor transactor, Workers workers) {

  /** Blocks. */
  Optional<Purchase> find(PurchaseId id) {
    return transactor.call(connection -> PurchaseTable.find(connection, id));
  }

  /** Reads it again. */
  CompletionStage<Purchase> reload(PurchaseId id) {
    return workers.run(() -> find(id).orElseThrow()).toCompletionStage();
  }

  /** Records which payment is a purchase's own, while its outcome is unknown. */
  CompletionStage<Purchase> know(Purchase purchase, IntentId intent) {
    return workers
        .run(
            () -> {
              transactor.run(connection -> PurchaseTable.know(connection, purchase, intent));
              return purchase.knowing(intent);
            })
        .toCompletionStage();
  }
}
