package dev.lockstep.prove.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.prove.history.Fields;
import org.junit.jupiter.api.Test;

/** The checker of purchases finds what is wrong on purpose, and nothing where all is right. */
class PurchaseCheckerTest {
  private final PurchaseChecker checker = new PurchaseChecker();

  private static Fields buy(String key) {
    return Fields.of("campaign", "1", "key", key);
  }

  private static Fields purchase(String id, String status) {
    return Fields.of(
        "purchase", id, "buyer", "k", "status", status, "quantity", 2, "total", 500, "refunded", 0);
  }

  private static Told end(Told told, String status, long charged, long back, long sold) {
    return told.ok(
            90,
            91,
            "final.purchase",
            Fields.of("campaign", "1", "purchase", "1.p"),
            purchase("1.p", status).with("charged", charged).with("back", back))
        .ok(
            92,
            93,
            "final.stock",
            Fields.of("campaign", "1"),
            Fields.of("total", 10, "held", 0, "sold", sold));
  }

  private static Told bought() {
    return new Told().ok(1, 2, "shop.buy", buy("k"), purchase("1.p", "completed"));
  }

  @Test
  void aPurchaseThatIsPaidForAndSoldIsRight() {
    assertThat(end(bought(), "completed", 500, 0, 2).broken(checker)).isEmpty();
    assertThat(end(bought(), "refunded", 500, 500, 0).broken(checker)).isEmpty();
  }

  @Test
  void moneyThatIsNotThePriceIsFound() {
    assertThat(end(bought(), "completed", 1_000, 0, 2).broken(checker))
        .containsExactly("money equals goods");
    assertThat(end(bought(), "completed", 500, 100, 2).broken(checker))
        .containsExactly("money equals goods");
  }

  @Test
  void moneyForNothingIsFound() {
    Told unknown = new Told().unknown(1, "shop.buy", buy("k"));
    assertThat(end(unknown, "expired", 500, 0, 0).broken(checker))
        .containsExactly("no money without goods");
    Told stray = end(bought(), "completed", 500, 0, 2);
    stray.ok(
        94,
        95,
        "final.stray",
        Fields.of("campaign", "1", "purchase", "1.q"),
        Fields.of("charged", 500, "back", 0));
    assertThat(stray.broken(checker)).containsExactly("no money without a purchase");
  }

  @Test
  void goodsThatNobodyBoughtAreFound() {
    assertThat(end(bought(), "completed", 500, 0, 4).broken(checker))
        .containsExactly("what was sold was bought");
    assertThat(end(bought(), "completed", 500, 0, 12).broken(checker))
        .containsExactly("what was sold was bought", "never oversold");
  }

  @Test
  void aPurchaseThatIsLeftOpenIsFound() {
    Told pending = new Told().unknown(1, "shop.buy", buy("k"));
    assertThat(end(pending, "pending", 0, 0, 0).broken(checker))
        .containsExactly("every purchase is settled");
  }

  @Test
  void aCompletedPurchaseThatIsUndoneIsFound() {
    assertThat(end(bought(), "failed", 0, 0, 0).broken(checker))
        .containsExactly("a completed purchase stays");
  }

  @Test
  void aNoToSomethingThatHappenedIsFound() {
    Told told = new Told().refused(1, 2, "shop.buy", buy("k"), Fields.of("why", "sold-out"));
    assertThat(end(told, "completed", 500, 0, 2).broken(checker)).containsExactly("no is no");
  }

  @Test
  void twoPurchasesOfOneKeyAreFound() {
    Told told = bought().ok(3, 4, "shop.buy", buy("k"), purchase("1.q", "completed"));
    assertThat(end(told, "completed", 500, 0, 2).broken(checker))
        .contains("one purchase for each key");
  }

  @Test
  void aForgedWebhookThatIsAcceptedIsFound() {
    Told told = bought();
    told.ok(
        5, 6, "shop.forged", Fields.of("campaign", "1", "purchase", "1.p"), Fields.of("http", 200));
    assertThat(end(told, "completed", 500, 0, 2).broken(checker))
        .containsExactly("a forged webhook is refused");
  }
}
