package dev.lockstep.server.cart;

import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.hold.Veto;
import dev.lockstep.server.act.Act;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.sql.Exchange;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Keeps a cart from being changed or released while it is being paid for: somebody would pay for
 * one thing and get another. Asked under the lock of the hold, which a checkout takes too, so that
 * of a change and a checkout one comes first and the other sees it. What it refuses is a decision
 * like any other: the rest of the batch goes on.
 *
 * <p>Also writes down, in the same transaction, what an operator let go of and why.
 */
final class CheckoutGuard implements Veto<Optional<Act>> {
  private final Checkouts checkouts;

  CheckoutGuard(Checkouts checkouts) {
    this.checkouts = checkouts;
  }

  @Override
  public Set<HoldId> keeps(Exchange exchange, ScopeId scope, Set<HoldId> holds)
      throws SQLException {
    return checkouts.payingFor(exchange.connection(), scope, holds);
  }

  @Override
  public void write(Exchange exchange, List<Accompanied<Optional<Act>>> outcomes)
      throws SQLException {
    for (Accompanied<Optional<Act>> asked : outcomes) {
      Optional<Hold> changed = changed(asked.outcome());
      if (changed.isPresent() && asked.payload().isPresent()) {
        Campaigns.record(
            exchange.connection(), changed.get().scope().value(), asked.payload().get());
      }
    }
  }

  private static Optional<Hold> changed(HoldOutcome outcome) {
    if (outcome instanceof Granted granted && !granted.replayed()) {
      return Optional.of(granted.hold());
    }
    return outcome instanceof Ended ended && !ended.replayed()
        ? Optional.of(ended.hold())
        : Optional.empty();
  }
}
