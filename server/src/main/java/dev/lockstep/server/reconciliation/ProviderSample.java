package dev.lockstep.server.reconciliation;

import dev.lockstep.server.payment.PaymentHistory;
import dev.lockstep.server.payment.PaymentHistory.Charge;
import dev.lockstep.server.reconciliation.Comparison.SortKey;
import dev.lockstep.server.reconciliation.ProviderTable.Paid;
import dev.lockstep.server.reconciliation.ProviderTable.SortedPurchase;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Compares purchases with the provider, in the other direction: whether payments of the last day
 * exist, and whether refunds of the last weeks went back and stayed back. Each look takes a few of
 * both, over and over. A disagreement becomes a suspect.
 */
final class ProviderSample {
  private static final int SAMPLE = 50;

  /** A bank may send a refund back for about a month. */
  private static final Duration REFUNDS_WATCHED = Duration.ofDays(35);

  private final Transactor transactor;
  private final TxOptions options;
  private final PaymentHistory history;
  private final Duration patience;

  ProviderSample(
      Transactor transactor, TxOptions options, PaymentHistory history, Duration patience) {
    this.transactor = transactor;
    this.options = options;
    this.history = history;
    this.patience = patience;
  }

  /**
   * Continues with a few.
   *
   * @param state the progress, updated in place
   */
  void go(JsonObject state, Instant settled) {
    sample(state, settled);
    sampleRefunded(state, settled);
  }

  private void suspect(String payment, String purchase) {
    transactor.run(
        options,
        connection -> ProviderTable.suspect(connection, payment, null, purchase, patience));
  }

  /** A pass over the purchases, a few at a time, that starts over at its end. */
  private interface Pass {
    List<SortedPurchase> next(SortKey after);

    void look(Paid purchase);
  }

  /** Checks that the provider knows what is paid here. */
  private void sample(JsonObject state, Instant settled) {
    pass(
        "sample",
        state,
        settled.minus(ProviderLook.HISTORY),
        new Pass() {
          @Override
          public List<SortedPurchase> next(SortKey after) {
            return transactor.call(
                options, connection -> ProviderTable.next(connection, after, patience, SAMPLE));
          }

          @Override
          public void look(Paid purchase) {
            String payment = purchase.intent();
            if (payment != null && purchase.isSold()) {
              Optional<Charge> charge = history.charge(payment);
              if (charge.isEmpty() || ProviderJudgement.of(charge.get(), purchase).isPresent()) {
                suspect(payment, purchase.name());
              }
            }
          }
        });
  }

  /** Checks that refunds went back and that the bank did not return them. */
  private void sampleRefunded(JsonObject state, Instant settled) {
    pass(
        "refunded",
        state,
        settled.minus(REFUNDS_WATCHED),
        new Pass() {
          @Override
          public List<SortedPurchase> next(SortKey after) {
            return transactor.call(
                options,
                connection -> ProviderTable.nextRefunded(connection, after, patience, SAMPLE));
          }

          @Override
          public void look(Paid purchase) {
            String payment = purchase.intent();
            if (payment != null && history.givenBackOf(payment) < purchase.refunded()) {
              suspect(payment, purchase.name());
            }
          }
        });
  }

  private void pass(String name, JsonObject state, Instant since, Pass pass) {
    JsonObject at = state.getJsonObject(name, new JsonObject());
    SortKey oldest = new SortKey(since.atOffset(ZoneOffset.UTC), 0, new UUID(0, 0));
    SortKey after = at.containsKey("at") ? SortKey.of(at) : oldest;
    List<SortedPurchase> some = pass.next(after.at().isBefore(oldest.at()) ? oldest : after);
    for (SortedPurchase one : some) {
      if (ProviderLook.stopped()) {
        return;
      }
      long began = System.nanoTime();
      ProviderLook.alone(one.purchase().name(), () -> pass.look(one.purchase()));
      ProviderLook.rest(began);
      at = one.key().json();
    }
    state.put(name, some.size() < SAMPLE ? new JsonObject() : at);
  }
}
