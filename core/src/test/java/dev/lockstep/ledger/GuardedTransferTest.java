package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerOperation.Decided;
import dev.lockstep.ledger.LedgerOperation.Seen;
import dev.lockstep.ledger.LedgerOutcome.Done;
import dev.lockstep.sql.Exchange;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The compare-and-set on a transfer's state by itself: it is ended by hand, past the accounts,
 * whose versions would tell as well.
 */
class GuardedTransferTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Bank bank = new Bank(database);

  /** One, and so many that they are ended by one statement. */
  @ParameterizedTest
  @ValueSource(ints = {1, 20})
  void aTransferThatHasEndedMeanwhileIsNotEndedAgain(int count) throws SQLException {
    AccountId world = bank.world();
    AccountId from = bank.with(world, count);
    List<Ask> asks = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Reserve reserve = bank.reserve(from, world, 1);
      assertThat(bank.ask(reserve)).isInstanceOf(Done.class);
      asks.add(Ask.onConnection(bank.post(reserve.id())));
    }
    LedgerOperation operation = new LedgerOperation(LedgerConfig.DEFAULT);
    Seen seen;
    try (Connection connection = begin()) {
      seen = operation.lock(Exchange.within(connection), bank.book(), asks);
      connection.rollback();
    }
    database.execute("UPDATE lockstep.transfer SET state = 2, ended_at = now() WHERE state = 0");
    List<String> before = bank.everything();

    Decided decided = operation.decide(bank.book(), seen, asks);
    try (Connection connection = begin()) {
      assertThatThrownBy(() -> operation.write(Exchange.within(connection), bank.book(), decided))
          .isInstanceOfSatisfying(
              SQLException.class,
              thrown -> assertThat(SqlFault.of(thrown)).isEqualTo(SqlFault.SERIALIZATION))
          .rootCause()
          .hasMessageContaining("\"state\"");
      connection.rollback();
    }

    assertThat(bank.everything()).isEqualTo(before);
    database.execute("UPDATE lockstep.transfer SET state = 0, ended_at = NULL WHERE state = 2");
  }

  private static Connection begin() throws SQLException {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    return connection;
  }
}
