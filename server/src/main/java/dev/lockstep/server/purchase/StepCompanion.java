package dev.lockstep.server.purchase;

import dev.lockstep.hold.Companion;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldState;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Writes the steps of a batch's purchases in the transaction that moves their stock, with one
 * statement however many there are; and tells who wants to know of it, in the same transaction,
 * what was sold.
 *
 * <p>Stock moves only together with its purchase: a command that moved some for a step which is not
 * to be taken any more (somebody else took another one meanwhile) fails here. The batch is then
 * split, and in the end only it fails.
 */
final class StepCompanion implements Companion<Step> {
  private final Duration lookAfter;
  private final SaleListener listener;

  StepCompanion(Duration lookAfter, SaleListener listener) {
    this.lookAfter = lookAfter;
    this.listener = listener;
  }

  /** The purchase is further than this step assumed; nothing was moved. */
  static final class StepRefused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    StepRefused() {
      super("The purchase has moved on", null, false, false);
    }
  }

  @Override
  public void write(Connection connection, List<Accompanied<Step>> outcomes) throws SQLException {
    long campaign = outcomes.get(0).payload().purchase().id().campaign();
    // Of two steps of one purchase the first is written: the other finds it taken.
    Map<PurchaseId, Change> changes = new LinkedHashMap<>();
    Set<String> events = new LinkedHashSet<>();
    Set<UUID> moved = new HashSet<>();
    List<Ended> sold = new ArrayList<>();
    for (Accompanied<Step> taken : outcomes) {
      Step step = taken.payload();
      step.after(taken.outcome())
          .ifPresent(change -> changes.putIfAbsent(step.purchase().id(), change));
      step.event().ifPresent(events::add);
      if (step.movesStock(taken.outcome())) {
        moved.add(step.purchase().id().value());
      }
      newSale(taken.outcome()).ifPresent(sold::add);
    }
    if (!changes.isEmpty()) {
      moved.removeAll(
          PurchaseTable.change(
              connection, campaign, List.copyOf(changes.values()), lookAfter, events));
    }
    if (!moved.isEmpty()) {
      throw new StepRefused();
    }
    if (!sold.isEmpty()) {
      listener.sold(connection, sold);
    }
  }

  /** The outcome is final. */
  void committed(HoldOutcome outcome) {
    newSale(outcome).ifPresent(listener::committed);
  }

  private static Optional<Ended> newSale(HoldOutcome outcome) {
    return outcome instanceof Ended ended
            && ended.hold().state() == HoldState.SOLD
            && !ended.replayed()
        ? Optional.of(ended)
        : Optional.empty();
  }
}
