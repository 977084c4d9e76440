package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Many transfers and accounts at once: what single look-ups say, and each once. */
class LedgerRecordsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Bank bank = new Bank(database);

  @Test
  void transfersOfSeveralBooksAreFoundByTheirIds() throws SQLException {
    AccountId world = bank.world();
    AccountId account = bank.with(world, 100);
    Move moved = bank.move(account, world, 30);
    Reserve reserved = bank.reserve(account, world, 20);
    bank.node().call(moved);
    bank.node().call(reserved);
    BookId none = new BookId(Long.MAX_VALUE);

    try (Connection connection = database.connection()) {
      assertThat(
              LedgerRecords.transfers(
                  connection,
                  Map.of(
                      bank.book(),
                      List.of(moved.id(), reserved.id(), new TransferId(new UUID(0, 1))),
                      none,
                      List.of(moved.id()))))
          .containsExactlyInAnyOrder(
              bank.node().transfer(bank.book(), moved.id()).orElseThrow(),
              bank.node().transfer(bank.book(), reserved.id()).orElseThrow());
      assertThat(LedgerRecords.transfers(connection, Map.of())).isEmpty();
    }
  }

  @Test
  void whenAnAccountWasOpenedIsKnownOfEachBookThatHasIt() throws SQLException {
    AccountId account = bank.open(OptionalLong.of(0));
    BookId none = new BookId(Long.MAX_VALUE);

    try (Connection connection = database.connection()) {
      Map<BookId, Instant> opened =
          LedgerRecords.openedAt(connection, account, List.of(bank.book(), none));

      assertThat(opened).containsOnlyKeys(bank.book());
      assertThat(opened)
          .containsEntry(
              bank.book(), bank.node().account(bank.book(), account).orElseThrow().changedAt());
      assertThat(LedgerRecords.openedAt(connection, account, List.of())).isEmpty();
    }
  }

  @Test
  void aReadHasABound() throws SQLException {
    try (Connection connection = database.connection()) {
      assertThatIllegalArgumentException()
          .isThrownBy(
              () ->
                  LedgerRecords.openedAt(
                      connection,
                      new AccountId(1),
                      Collections.nCopies(LedgerRecords.MAX_ROWS + 1, new BookId(1))));
    }
  }
}
