package dev.lockstep.server.purchase;

import dev.lockstep.hold.Companion;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldState;
import dev.lockstep.tx.Exchange;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
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
 * what was paid, what was sold and what came back.
 *
 * <p>Stock moves only together with its purchase: a command that moved some for a step which is not
 * to be taken any more (somebody else took another one meanwhile) fails here. The batch is then
 * split, and in the end only it fails.
 */
final class StepCompanion implements Companion<StepAttempt> {
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

  /** Something rests on the sale, so its goods cannot come back; nothing was moved. */
  static final class GoodsStay extends RuntimeException {
    private static final long serialVersionUID = 1L;

    GoodsStay() {
      super("The goods stay sold", null, false, false);
    }
  }

  @Override
  public void write(Exchange exchange, List<Accompanied<StepAttempt>> outcomes)
      throws SQLException {
    long campaign = outcomes.get(0).payload().step().purchase().id().campaign();
    // Of two steps of one purchase the first is written: the other finds it taken.
    Map<PurchaseId, Change> changes = new LinkedHashMap<>();
    Map<PurchaseId, StepAttempt> attempts = new HashMap<>();
    Set<String> events = new LinkedHashSet<>();
    Set<UUID> moved = new HashSet<>();
    for (Accompanied<StepAttempt> made : outcomes) {
      StepAttempt attempt = made.payload();
      Step step = attempt.step();
      PurchaseId id = step.purchase().id();
      attempt.decided(null);
      Optional<Change> change = step.after(made.outcome());
      if (change.isPresent() && changes.putIfAbsent(id, change.get()) == null) {
        attempts.put(id, attempt);
      }
      step.event().ifPresent(events::add);
      if (step.movesStock(made.outcome())) {
        moved.add(id.value());
      }
    }
    if (!changes.isEmpty()) {
      Set<UUID> taken = change(exchange, campaign, List.copyOf(changes.values()), events);
      attempts.forEach(
          (id, attempt) -> attempt.decided(taken.contains(id.value()) ? changes.get(id) : null));
      moved.removeAll(taken);
    }
    if (!moved.isEmpty()) {
      throw new StepRefused();
    }
    tell(exchange, outcomes);
  }

  /**
   * Writes steps of one campaign's purchases, and tells what money they moved and which of them
   * have come to an end. The caller commits.
   *
   * @return the purchases whose step was taken here; the others were further already
   */
  Set<UUID> change(Exchange exchange, long campaign, List<Change> changes, Set<String> events)
      throws SQLException {
    Set<UUID> taken = PurchaseTable.change(exchange, campaign, changes, lookAfter, events);
    List<SaleMoney> money = SaleMoney.of(changes, taken);
    if (!money.isEmpty()) {
      listener.moneyMoved(exchange, campaign, money);
    }
    List<PurchaseEnd> ends =
        changes.stream()
            .filter(one -> taken.contains(one.before().id().value()))
            .map(Change::after)
            .filter(purchase -> purchase.status().isEnd())
            .map(
                purchase ->
                    new PurchaseEnd(purchase.status().label(), () -> PurchaseView.json(purchase)))
            .toList();
    if (!ends.isEmpty()) {
      listener.ending(exchange, campaign, ends);
    }
    return taken;
  }

  private void tell(Exchange exchange, List<Accompanied<StepAttempt>> outcomes)
      throws SQLException {
    List<Ended> returned = ended(outcomes, HoldState.RETURNED);
    if (!returned.isEmpty() && !listener.mayComeBack(exchange.connection(), returned)) {
      throw new GoodsStay();
    }
    List<Ended> sold = ended(outcomes, HoldState.SOLD);
    if (!sold.isEmpty()) {
      listener.sold(exchange, sold);
    }
  }

  /** The outcome is final. */
  void committed(StepAttempt attempt, HoldOutcome outcome) {
    ended(outcome, HoldState.SOLD).ifPresent(listener::committed);
    attempt.end().ifPresent(this::ended);
  }

  /** A purchase has this status for good. */
  void ended(Status status) {
    listener.ended(status.label());
  }

  private static List<Ended> ended(List<Accompanied<StepAttempt>> outcomes, HoldState state) {
    return outcomes.stream().flatMap(made -> ended(made.outcome(), state).stream()).toList();
  }

  private static Optional<Ended> ended(HoldOutcome outcome, HoldState state) {
    return outcome instanceof Ended ended && ended.hold().state() == state && !ended.replayed()
        ? Optional.of(ended)
        : Optional.empty();
  }
}
