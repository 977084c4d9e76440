package dev.lockstep.server.purchase;

import dev.lockstep.hold.Companion;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldState;
import dev.lockstep.sql.Exchange;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Writes the steps of a batch's purchases in the transaction that moves their stock, with one
 * statement however many there are (a second one for second steps of the same purchases); and tells
 * who wants to know of it, in the same transaction, what was paid, what was sold and what came
 * back.
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
    // One statement changes a row once. So the second step of a purchase is written by a second
    // statement, which finds what the first one left, as if it had come in the next transaction.
    List<Map<UUID, Wanted>> rounds = new ArrayList<>();
    Map<UUID, Integer> steps = new HashMap<>();
    for (Accompanied<StepAttempt> made : outcomes) {
      StepAttempt attempt = made.payload();
      Step step = attempt.step();
      attempt.decided(null, false);
      boolean moved = step.movesStock(made.outcome());
      Optional<Change> change = step.after(made.outcome());
      if (change.isPresent()) {
        UUID id = step.purchase().id().value();
        int round = steps.merge(id, 1, Integer::sum) - 1;
        if (round == rounds.size()) {
          rounds.add(new LinkedHashMap<>());
        }
        rounds.get(round).put(id, new Wanted(attempt, change.get().on(step.event()), moved));
      } else if (moved) {
        throw new StepRefused();
      }
    }
    for (Map<UUID, Wanted> round : rounds) {
      write(exchange, campaign, round);
    }
    tell(exchange, outcomes);
  }

  /**
   * A step with what it would write.
   *
   * @param moved its command moved stock, so that it has to be taken, or all of it fails
   */
  private record Wanted(StepAttempt attempt, Change change, boolean moved) {}

  private void write(Exchange exchange, long campaign, Map<UUID, Wanted> round)
      throws SQLException {
    List<Change> changes = round.values().stream().map(Wanted::change).toList();
    Set<UUID> taken = change(exchange, campaign, changes);
    for (Map.Entry<UUID, Wanted> wanted : round.entrySet()) {
      Wanted one = wanted.getValue();
      boolean mine = taken.contains(wanted.getKey());
      if (one.moved() && !mine) {
        throw new StepRefused();
      }
      one.attempt().decided(one.change(), mine);
    }
  }

  /**
   * Writes steps of one campaign's purchases, one each, and tells what money they moved and which
   * of them have come to an end. The caller commits.
   *
   * @return the purchases whose step was taken here; the others were further already
   */
  Set<UUID> change(Exchange exchange, long campaign, List<Change> changes) throws SQLException {
    Set<UUID> taken = PurchaseTable.change(exchange, campaign, changes, lookAfter);
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
