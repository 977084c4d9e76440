package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.testkit.TestDatabase;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The books see what they are there to see. */
class BooksTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE lockstep.pool SET held = held + 1",
        "UPDATE lockstep.pool SET sold = sold - 1 WHERE sold > 0",
        "UPDATE lockstep.pool SET held = held - 1, sold = sold + 1 WHERE held > 0",
        "UPDATE lockstep.pool SET audit_seq = audit_seq + 1",
        "UPDATE lockstep.pool SET next_rank = 9 WHERE has_units",
        "UPDATE lockstep.pool SET total = total + 1 WHERE NOT has_units",
        "UPDATE lockstep.unit SET hold = NULL WHERE hold IS NOT NULL",
        "UPDATE lockstep.unit SET hold = gen_random_uuid() WHERE hold IS NOT NULL",
        "UPDATE lockstep.unit SET hold = gen_random_uuid() WHERE rank = 9",
        "DELETE FROM lockstep.unit WHERE rank = 9",
        "UPDATE lockstep.hold SET quantities[1] = 9 WHERE state = 0",
        "UPDATE lockstep.hold SET units = units[2:] WHERE state = 0",
        "UPDATE lockstep.hold SET state = 2, ended_at = now() WHERE state = 0",
        "UPDATE lockstep.hold SET state = 2 WHERE state = 1",
        "DELETE FROM lockstep.hold WHERE state = 2",
        "UPDATE lockstep.quota SET used = used + 1",
        "DELETE FROM lockstep.quota",
        "INSERT INTO lockstep.stock_audit SELECT scope, pool, seq + 1, hold, cause, actor,"
            + " held_before, held_after, sold_before, sold_after, at FROM lockstep.stock_audit"
            + " WHERE (scope, pool, seq) IN (SELECT scope, pool, audit_seq FROM lockstep.pool)"
      })
  void aHandMadeChangeIsSeen(String change) {
    Sale sale = aSale();
    sale.checkBooks();
    List<String> before = sale.everything();

    database.execute(change);

    assertThat(sale.everything()).as("the change found its row").isNotEqualTo(before);
    assertThatThrownBy(sale::checkBooks).isInstanceOf(AssertionError.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "DELETE FROM lockstep.stock_audit WHERE seq = 2",
        "UPDATE lockstep.stock_audit SET held_after = held_after + 1 WHERE seq = 1",
        "UPDATE lockstep.stock_audit SET cause = 3 WHERE cause = 2"
      })
  void aForgedAuditIsSeen(String forgery) {
    Sale sale = aSale();

    database.execute(
        "ALTER TABLE lockstep.stock_audit DISABLE TRIGGER append_only; %s;".formatted(forgery)
            + "ALTER TABLE lockstep.stock_audit ENABLE TRIGGER append_only");

    assertThatThrownBy(sale::checkBooks).isInstanceOf(AssertionError.class);
  }

  @Test
  void anUntouchedSaleIsInOrder() {
    aSale().checkBooks();
  }

  /** With something held, something sold and something released; closed, so that nobody sells. */
  private static Sale aSale() {
    Sale sale = new Sale(database, OptionalInt.of(9), HoldsConfig.DEFAULT);
    Line[] cart = {Line.of(sale.units(10), 2), Line.of(sale.counted(10), 1)};
    sale.hold("alice", cart);
    sale.ask(sale.confirm(sale.hold("bob", cart).id()));
    sale.ask(sale.release(sale.hold("carol", cart).id()));
    sale.close();
    return sale;
  }
}
