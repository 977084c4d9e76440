package dev.lockstep.server.cart;

import dev.lockstep.hold.Companion;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldIdReused;
import dev.lockstep.once.Once;
import dev.lockstep.server.api.KeyedAnswers;
import dev.lockstep.server.api.KeyedAnswers.Decided;
import dev.lockstep.server.api.Ticket;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.sql.Exchange;
import java.sql.SQLException;
import java.util.List;

/** Writes the answers of a batch of carts to their idempotency keys. */
final class OnceCompanion implements Companion<Ticket<Campaign>> {
  private final KeyedAnswers answers;

  OnceCompanion(Once once) {
    this.answers = new KeyedAnswers(once);
  }

  @Override
  public void write(Exchange exchange, List<Accompanied<Ticket<Campaign>>> outcomes)
      throws SQLException {
    answers.write(exchange, outcomes.stream().map(OnceCompanion::decided).toList());
  }

  private static Decided decided(Accompanied<Ticket<Campaign>> asked) {
    HoldOutcome outcome = asked.outcome();
    return new Decided(
        asked.payload(),
        Outcomes.answer(asked.payload().subject(), outcome, 201),
        outcome instanceof Granted granted && !granted.replayed(),
        !(outcome instanceof HoldIdReused));
  }
}
