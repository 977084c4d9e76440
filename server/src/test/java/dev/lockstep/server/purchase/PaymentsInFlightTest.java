package dev.lockstep.server.purchase;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.hold.HoldId;
import dev.lockstep.server.payment.IntentId;
import dev.lockstep.server.payment.Money;
import io.vertx.core.json.JsonArray;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class PaymentsInFlightTest {
  private final PaymentsInFlight underWay = new PaymentsInFlight();

  @Test
  void aPaymentIsTakenOnceWhetherItHasEndedOrNot() {
    CompletableFuture<Purchase> open = new CompletableFuture<>();
    underWay.add(id(1), open);
    underWay.add(id(2), CompletableFuture.completedFuture(completed(2)));

    assertThat(underWay.take(id(3))).isEmpty();
    assertThat(underWay.take(id(1))).contains(open);
    assertThat(underWay.take(id(1))).isEmpty();
    assertThat(underWay.take(id(2))).isPresent();
    assertThat(underWay.take(id(2))).isEmpty();
  }

  @Test
  void whatDidNotCompleteIsForTheTableToTell() {
    CompletableFuture<Purchase> failing = new CompletableFuture<>();
    CompletableFuture<Purchase> open = new CompletableFuture<>();
    underWay.add(id(1), failing);
    underWay.add(id(2), open);

    failing.completeExceptionally(new IllegalStateException("no answer"));
    open.complete(pending(2));

    assertThat(underWay.take(id(1))).isEmpty();
    assertThat(underWay.take(id(2))).isEmpty();
  }

  @Test
  void whatIsNeverAskedForIsForgottenInTheEnd() {
    for (int i = 0; i <= 50_000; i++) {
      underWay.add(id(i), CompletableFuture.completedFuture(completed(i)));
    }

    assertThat(underWay.take(id(0))).isEmpty();
    assertThat(underWay.take(id(1))).isPresent();
    assertThat(underWay.take(id(50_000))).isPresent();
  }

  private static PurchaseId id(long number) {
    return new PurchaseId(7, new UUID(0, number));
  }

  private static Purchase completed(long number) {
    return pending(number).completed(new IntentId("pi_" + number));
  }

  private static Purchase pending(long number) {
    return Purchase.begun(
        id(number),
        new HoldId(id(number).value()),
        "ann",
        new Money(500, "JPY"),
        new JsonArray(),
        "pm_card_visa");
  }
}
