package dev.lockstep.server.purchase;

import dev.lockstep.combine.CommandRefused;
import dev.lockstep.combine.Companion;
import dev.lockstep.combine.CompanionResult;
import dev.lockstep.combine.CompanionResult.Written;
import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.PartReturned;
import dev.lockstep.hold.HoldState;
import dev.lockstep.sql.Exchange;
import dev.lockstep.work.OpenTransaction;
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
import java.util.stream.Stream;

/**
 * Writes the steps of a batch's purchases in the transaction that moves their stock, with one
 * statement per batch (more if a purchase takes several steps). In the same transaction it tells
 * the {@link SaleListener} what was paid, what was sold and what came back.
 *
 * <p>Stock moves only together with its purchase: if a command moved stock, but another step came
 * first, the command is refused here.
 */
final class StepCompanion implements Companion<Step, HoldOutcome, StepResult> {
  private final Duration lookAfter;
  private final SaleListener listener;

  StepCompanion(Duration lookAfter, SaleListener listener) {
    this.lookAfter = lookAfter;
    this.listener = listener;
  }

  @Override
  public List<StepResult> write(
      OpenTransaction transaction, List<Accompanied<Step, HoldOutcome>> commands)
      throws SQLException {
    Exchange exchange = Exchange.of(transaction);
    long campaign = commands.get(0).payload().purchase().id().campaign();
    // One statement changes a row once. So a second statement writes the second step of a purchase;
    // it sees the first step, as if in the next transaction.
    List<Map<UUID, PlannedChange>> rounds = new ArrayList<>();
    Map<UUID, Integer> steps = new HashMap<>();
    List<StepResult> results = new ArrayList<>(commands.size());
    for (Accompanied<Step, HoldOutcome> made : commands) {
      Step step = made.payload();
      boolean moved = step.movesStock(made.outcome());
      Optional<Change> change = step.after(made.outcome());
      if (change.isPresent()) {
        UUID id = step.purchase().id().value();
        int round = steps.merge(id, 1, Integer::sum) - 1;
        if (round == rounds.size()) {
          rounds.add(new LinkedHashMap<>());
        }
        Change wanted = change.get().on(step.event());
        rounds.get(round).put(id, new PlannedChange(results.size(), wanted, moved));
      } else if (moved) {
        throw new CommandRefused(new StepResult.TooLate());
      }
      results.add(new StepResult.Idle());
    }
    for (Map<UUID, PlannedChange> round : rounds) {
      write(exchange, campaign, round, results);
    }
    tell(exchange, commands);
    return results;
  }

  /**
   * The change that a step would write.
   *
   * @param index of its command
   * @param moved whether its command moved stock, so that it fails if the step is not taken
   */
  private record PlannedChange(int index, Change change, boolean moved) {}

  private void write(
      Exchange exchange, long campaign, Map<UUID, PlannedChange> round, List<StepResult> results)
      throws SQLException {
    List<Change> changes = round.values().stream().map(PlannedChange::change).toList();
    Set<UUID> taken = change(exchange, campaign, changes);
    for (Map.Entry<UUID, PlannedChange> wanted : round.entrySet()) {
      PlannedChange one = wanted.getValue();
      boolean mine = taken.contains(wanted.getKey());
      if (one.moved() && !mine) {
        throw new CommandRefused(new StepResult.TooLate());
      }
      results.set(
          one.index(), mine ? new StepResult.Taken(one.change()) : new StepResult.TooLate());
    }
  }

  /**
   * Writes steps of one campaign's purchases, one each, and tells the listener what money they
   * moved and which of them ended. The caller commits.
   *
   * @return the purchases whose step was taken here; the others had moved on
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
            .filter(one -> one.after().status().isEnd())
            .map(one -> new PurchaseEnd(one.end(), () -> PurchaseView.json(one.after())))
            .toList();
    if (!ends.isEmpty()) {
      listener.ending(exchange, campaign, ends);
    }
    return taken;
  }

  private void tell(Exchange exchange, List<Accompanied<Step, HoldOutcome>> commands)
      throws SQLException {
    List<Hold> returned =
        Stream.concat(
                ended(commands, HoldState.RETURNED).stream().map(Ended::hold),
                commands.stream()
                    .map(Accompanied::outcome)
                    .filter(PartReturned.class::isInstance)
                    .map(outcome -> ((PartReturned) outcome).hold()))
            .toList();
    if (!returned.isEmpty() && !listener.mayComeBack(exchange.connection(), returned)) {
      throw new CommandRefused(new StepResult.GoodsStay());
    }
    List<Ended> sold = ended(commands, HoldState.SOLD);
    if (!sold.isEmpty()) {
      listener.sold(exchange, sold);
    }
  }

  /** Tells the listener what a transaction has committed. */
  void committed(CompanionResult<? extends HoldOutcome, StepResult> committed) {
    if (committed instanceof Written<? extends HoldOutcome, StepResult> written) {
      ended(written.outcome(), HoldState.SOLD).ifPresent(listener::committed);
      written.result().end().ifPresent(this::ended);
    }
  }

  /** Tells the listener that a purchase has ended with this status. */
  void ended(PurchaseStatus status) {
    listener.ended(status.label());
  }

  private static List<Ended> ended(List<Accompanied<Step, HoldOutcome>> commands, HoldState state) {
    return commands.stream().flatMap(made -> ended(made.outcome(), state).stream()).toList();
  }

  private static Optional<Ended> ended(HoldOutcome outcome, HoldState state) {
    return outcome instanceof Ended ended && ended.hold().state() == state && !ended.replayed()
        ? Optional.of(ended)
        : Optional.empty();
  }
}
