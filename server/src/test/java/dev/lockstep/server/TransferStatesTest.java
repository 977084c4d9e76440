package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerCommand;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Post;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerCommand.VoidPending;
import dev.lockstep.ledger.Money;
import dev.lockstep.ledger.NewAccount;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.ledger.TransferState;
import dev.lockstep.server.Exploration.Act;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every command in every state of a transfer, against the diagram in docs/concepts.md. */
class TransferStatesTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final BookId BOOK = new BookId(1);
  private static final AccountId FROM = new AccountId(1);
  private static final AccountId TO = new AccountId(2);
  private static final Money TEN = new Money(10, "JPY");

  @Test
  void aTransferMovesAsItsDiagramShows() throws Exception {
    StateDiagram diagram = StateDiagram.of("transfer", TransferState.values());
    try (Ledger ledger = new Ledger(new Transactor(database.dataSource()))) {
      ledger.openBook(BOOK);
      ledger.openAccounts(
          BOOK,
          List.of(
              NewAccount.withoutFloor(FROM, "from", "JPY"),
              NewAccount.withoutFloor(TO, "to", "JPY")));

      new Exploration<>(diagram, TransferId::next, id -> state(ledger, id)).explore(acts(ledger));
    }
    diagram.checkPage();
  }

  private static Map<String, Act<TransferId>> acts(Ledger ledger) {
    Map<String, Act<TransferId>> acts = new LinkedHashMap<>();
    List<Function<TransferId, LedgerCommand<?>>> commands =
        List.of(
            id -> new Move(BOOK, id, FROM, TO, TEN),
            id -> new Reserve(BOOK, id, FROM, TO, TEN, Duration.ofHours(1)),
            id -> Post.all(BOOK, id),
            id -> new VoidPending(BOOK, id));
    for (Function<TransferId, LedgerCommand<?>> command : commands) {
      acts.put(
          command.apply(TransferId.next()).getClass().getSimpleName(),
          id -> ledger.call(command.apply(id)));
    }
    assertThat(acts.keySet())
        .as("every command there is; linked ones are made of these")
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(LedgerCommand.class.getPermittedSubclasses())
                .filter(command -> command != Linked.class)
                .map(Class::getSimpleName)
                .toList());
    acts.put(
        "time is up",
        id -> {
          database.execute(
              "UPDATE lockstep.transfer SET expires_at = now() - interval '1 second'"
                  + " WHERE state = 0 AND transfer = '%s'".formatted(id));
          ledger.sweep();
        });
    return acts;
  }

  private static String state(Ledger ledger, TransferId id) {
    return ledger.transfer(BOOK, id).map(one -> one.state().name()).orElse(StateDiagram.NEW);
  }
}
