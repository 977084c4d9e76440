package dev.lockstep.prove.node;

import dev.lockstep.combine.Companion;
import dev.lockstep.fault.LockstepException;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.Holds;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.NewJob;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerCommand;
import dev.lockstep.ledger.LedgerOutcome;
import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.prove.history.Fields;
import dev.lockstep.tx.Transactor;
import dev.lockstep.work.OpenTransaction;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;

/** A hold whose companion posts, publishes and enqueues in the hold's transaction. */
final class SaleVerbs {
  private final Holds holds;
  private final Ledger ledger;
  private final Outbox outbox;
  private final Jobs jobs;
  private final Transactor transactor;
  private final Companion<Fields, HoldOutcome, HoldOutcome> companion =
      Companion.writing(this::write);

  SaleVerbs(Transactor transactor, Holds holds, Ledger ledger, Outbox outbox, Jobs jobs) {
    this.transactor = transactor;
    this.holds = holds;
    this.ledger = ledger;
    this.outbox = outbox;
    this.jobs = jobs;
  }

  Map<String, Verb> verbs() {
    return Map.of("sale.sell", this::sell, "sale.inOne", this::sellInOneTransaction);
  }

  private Answer sell(Fields f) {
    try {
      return HoldVerbs.answer(
          holds.submit(HoldVerbs.acquire(f), companion, f).toCompletableFuture().join().outcome());
    } catch (CompletionException e) {
      if (e.getCause() instanceof LockstepException fault) {
        throw fault;
      }
      throw e;
    }
  }

  /** The other way: all blocks join one transaction of the caller's. */
  private Answer sellInOneTransaction(Fields f) {
    HoldOutcome outcome =
        transactor.call(
            connection -> {
              HoldOutcome decided = holds.join(connection, HoldVerbs.acquire(f));
              if (isNew(decided)) {
                requireDone(ledger.joinAll(connection, List.of(move(f))));
                outbox.append(connection, event(f));
                jobs.enqueue(connection, JobVerbs.newJob(f));
              }
              return decided;
            });
    return HoldVerbs.answer(outcome);
  }

  private void write(
      OpenTransaction transaction, List<Companion.Accompanied<Fields, HoldOutcome>> commands)
      throws SQLException {
    List<LedgerCommand<?>> moves = new ArrayList<>();
    List<NewEvent> events = new ArrayList<>();
    List<NewJob> work = new ArrayList<>();
    for (Companion.Accompanied<Fields, HoldOutcome> each : commands) {
      if (isNew(each.outcome())) {
        moves.add(move(each.payload()));
        events.add(event(each.payload()));
        work.add(JobVerbs.newJob(each.payload()));
      }
    }
    if (!moves.isEmpty()) {
      requireDone(ledger.joinAll(transaction, moves));
      outbox.appendAll(transaction.connection(), events);
      jobs.enqueueAll(transaction.connection(), work);
    }
  }

  private static boolean isNew(HoldOutcome outcome) {
    return outcome instanceof HoldOutcome.Granted granted && !granted.replayed();
  }

  private static LedgerCommand<?> move(Fields f) {
    return LedgerVerbs.single("move", f);
  }

  private static NewEvent event(Fields f) {
    return NewEvent.of(
        OutboxVerbs.STREAM, f.text("key"), "sold", Content.json('"' + f.text("hold") + '"'));
  }

  private static void requireDone(List<LedgerOutcome> outcomes) {
    for (LedgerOutcome outcome : outcomes) {
      if (!(outcome instanceof LedgerOutcome.TransferDone)) {
        throw new IllegalStateException("The account without a floor refused: " + outcome);
      }
    }
  }
}
