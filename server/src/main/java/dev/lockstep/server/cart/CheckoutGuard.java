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
import dev.lockstep.work.OpenTransaction;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Keeps a cart from being changed or released while it is being paid for: otherwise a buyer would
 * pay for one thing and get another. It is asked under the hold's lock, which a checkout takes too,
 * so whichever of the two comes second sees the first. A veto is an ordinary outcome: the rest of
 * the batch goes on.
 *
 * <p>Also records, in the same transaction, what an operator released and why.
 */
final class CheckoutGuard implements Veto<Optional<Act>, HoldOutcome> {
  private final Checkouts checkouts;

  CheckoutGuard(Checkouts checkouts) {
    this.checkouts = checkouts;
  }

  @Override
  public Set<HoldId> keeps(OpenTransaction transaction, ScopeId scope, Set<HoldId> holds)
      throws SQLException {
    return checkouts.payingFor(transaction.connection(), scope, holds);
  }

  @Override
  public List<HoldOutcome> write(
      OpenTransaction transaction, List<Accompanied<Optional<Act>, HoldOutcome>> commands)
      throws SQLException {
    for (Accompanied<Optional<Act>, HoldOutcome> command : commands) {
      Optional<Hold> changed = changed(command.outcome());
      if (changed.isPresent() && command.payload().isPresent()) {
        Campaigns.record(
            transaction.connection(), changed.get().scope().value(), command.payload().get());
      }
    }
    return commands.stream().map(Accompanied::outcome).toList();
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
