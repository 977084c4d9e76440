package dev.lockstep.server.account;

import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.LedgerOutcome;
import dev.lockstep.ledger.LedgerOutcome.AllDone;
import dev.lockstep.ledger.LedgerOutcome.Done;
import dev.lockstep.ledger.LedgerOutcome.TransferIdReused;
import dev.lockstep.ledger.TransferCompanion;
import dev.lockstep.once.Once;
import dev.lockstep.server.api.KeyedAnswers;
import dev.lockstep.server.api.KeyedAnswers.Decided;
import dev.lockstep.server.api.Ticket;
import dev.lockstep.sql.Exchange;
import java.sql.SQLException;
import java.util.List;

/** Writes the answers of a batch of transfers to their idempotency keys. */
final class OnceCompanion implements TransferCompanion<Ticket<BookId>> {
  private final KeyedAnswers answers;

  OnceCompanion(Once once) {
    this.answers = new KeyedAnswers(once);
  }

  @Override
  public void write(Exchange exchange, List<Accompanied<Ticket<BookId>>> outcomes)
      throws SQLException {
    answers.write(exchange, outcomes.stream().map(OnceCompanion::decided).toList());
  }

  private static Decided decided(Accompanied<Ticket<BookId>> asked) {
    LedgerOutcome outcome = asked.outcome();
    return new Decided(
        asked.payload(),
        TransferAnswers.answer(asked.payload().subject(), outcome, 201),
        hasMoved(outcome),
        !(outcome instanceof TransferIdReused));
  }

  private static boolean hasMoved(LedgerOutcome outcome) {
    return (outcome instanceof Done done && !done.replayed())
        || (outcome instanceof AllDone all && !all.replayed());
  }
}
