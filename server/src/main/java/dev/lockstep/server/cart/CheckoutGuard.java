package dev.lockstep.server.cart;

import dev.lockstep.hold.Companion;
import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.ProblemException;
import dev.lockstep.server.campaign.OperatorAct;
import dev.lockstep.server.cart.CheckoutGuard.Wanted;
import dev.lockstep.tx.Exchange;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * Keeps a cart from being changed or released while it is being paid for: somebody would pay for
 * one thing and get another. Asked under the lock of the hold, which a checkout takes too, so that
 * of a change and a checkout one comes first and the other sees it. What it refuses fails; the
 * batch is then split, and only that command fails in the end.
 *
 * <p>Also writes down, in the same transaction, what an operator let go of and why.
 */
final class CheckoutGuard implements Companion<Wanted> {
  private final Checkouts checkouts;

  CheckoutGuard(Checkouts checkouts) {
    this.checkouts = checkouts;
  }

  /**
   * A command that would change a hold.
   *
   * @param act what to write down when it does
   */
  record Wanted(HoldId hold, Optional<OperatorAct> act) {}

  @Override
  public void write(Exchange exchange, List<Accompanied<Wanted>> outcomes) throws SQLException {
    List<Hold> changed =
        outcomes.stream().flatMap(asked -> changed(asked.outcome()).stream()).toList();
    if (changed.isEmpty()) {
      return;
    }
    Connection connection = exchange.connection();
    requireNotInCheckout(connection, changed);
    for (Accompanied<Wanted> asked : outcomes) {
      Optional<OperatorAct> act = asked.payload().act();
      if (act.isPresent() && changed(asked.outcome()).isPresent()) {
        act.get().record(connection, changed.get(0).scope().value());
      }
    }
  }

  /**
   * The same for one command that was decided on a caller's connection, which is rolled back then.
   */
  HoldOutcome requireNotInCheckout(Connection connection, HoldOutcome outcome) throws SQLException {
    Optional<Hold> changed = changed(outcome);
    if (changed.isPresent()) {
      requireNotInCheckout(connection, List.of(changed.get()));
    }
    return outcome;
  }

  private void requireNotInCheckout(Connection connection, List<Hold> changed) throws SQLException {
    List<HoldId> ids = changed.stream().map(Hold::id).toList();
    if (!checkouts.payingFor(connection, changed.get(0).scope(), ids).isEmpty()) {
      throw inCheckout();
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

  private static ProblemException inCheckout() {
    return Problem.of(
            "hold-in-checkout",
            409,
            "Hold in checkout",
            "The hold is being paid for and cannot be changed.")
        .asException();
  }
}
