package dev.lockstep.hold;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.TxOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Opens sales for a test. Whatever the test did, after it the books of each of its sales must
 * balance.
 */
final class HoldFixture implements AfterEachCallback {
  /** A slow statement is given up as early as a lock. */
  static final HoldsConfig IMPATIENT =
      HoldsConfig.DEFAULT.withCombiner(
          HoldsConfig.DEFAULT
              .combiner()
              .withTransaction(
                  HoldsConfig.DEFAULT
                      .combiner()
                      .transaction()
                      .withStatementTimeout(TxOptions.DEFAULT.lockTimeout())));

  private final TestDatabase database;
  private final List<Sale> sales = new ArrayList<>();

  HoldFixture(TestDatabase database) {
    this.database = database;
  }

  Sale sale() {
    return sale(OptionalInt.empty(), HoldsConfig.DEFAULT);
  }

  Sale saleWithLimit(int limit) {
    return sale(OptionalInt.of(limit), HoldsConfig.DEFAULT);
  }

  Sale sale(HoldsConfig config) {
    return sale(OptionalInt.empty(), config);
  }

  Sale sale(OptionalInt limit, HoldsConfig config) {
    Sale sale = new Sale(database, limit, config);
    sales.add(sale);
    return sale;
  }

  @Override
  public void afterEach(ExtensionContext context) {
    sales.forEach(Sale::close);
    sales.forEach(Sale::checkBooks);
  }
}
