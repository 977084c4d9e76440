package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.ledger.LedgerHistory.Step;
import dev.lockstep.ledger.LedgerOutcome.AllDone;
import dev.lockstep.ledger.LedgerOutcome.BalanceOverflow;
import dev.lockstep.ledger.LedgerOutcome.CurrencyMismatch;
import dev.lockstep.ledger.LedgerOutcome.InsufficientFunds;
import dev.lockstep.ledger.LedgerOutcome.NotPending;
import dev.lockstep.ledger.LedgerOutcome.Refused;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.ledger.LedgerOutcome.UnknownAccount;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The decision alone, a pure function, over generated histories. */
class LedgerDecisionTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final int TRIES = 1_000;

  @Provide
  Arbitrary<LedgerHistory> histories() {
    return LedgerHistory.histories();
  }

  @Property(tries = TRIES)
  void everyAnswerIsTheOneOfAPlainBankAndTheBooksBalanceAfterEveryBatch(
      @ForAll("histories") LedgerHistory history) {
    MemoryLedger ledger = opened();
    PlainBank bank = new PlainBank(LedgerHistory.ACCOUNTS);
    Instant now = START;
    for (Step step : history.steps()) {
      Instant at = now.plusSeconds(step.secondsLater());
      now = at;

      List<LedgerOutcome> outcomes = ledger.decide(at, step.commands());

      assertThat(outcomes.stream().map(LedgerDecisionTest::plain))
          .isEqualTo(step.commands().stream().map(c -> bank.answer(at, c)).toList());
      ledger.check();
    }
  }

  @Property(tries = TRIES)
  void batchingIsInvisible(@ForAll("histories") LedgerHistory history) {
    MemoryLedger together = opened();
    MemoryLedger apart = opened();
    Instant now = START;
    for (Step step : history.steps()) {
      now = now.plusSeconds(step.secondsLater());
      List<LedgerOutcome> batch = together.decide(now, step.commands());
      List<LedgerOutcome> oneByOne = new ArrayList<>();
      for (LedgerCommand<?> command : step.commands()) {
        oneByOne.addAll(apart.decide(now, List.of(command)));
      }

      assertThat(batch).isEqualTo(oneByOne);
      assertThat(together.accounts).isEqualTo(apart.accounts);
      assertThat(together.transfers).isEqualTo(apart.transfers);
      assertThat(together.entries).isEqualTo(apart.entries);
    }
  }

  @Property(tries = 1, seed = "42")
  void theGeneratedHistoriesMeetEveryOutcome() {
    Map<String, Integer> seen = new HashMap<>();
    LedgerHistory.histories()
        .sampleStream()
        .limit(500)
        .forEach(
            history -> {
              MemoryLedger ledger = opened();
              Instant now = START;
              for (Step step : history.steps()) {
                now = now.plusSeconds(step.secondsLater());
                ledger
                    .decide(now, step.commands())
                    .forEach(o -> seen.merge(o.getClass().getSimpleName(), 1, Integer::sum));
              }
            });

    // Without the three result types; LedgerOverloaded is not decided here but at the queue.
    assertThat(seen).hasSize(LedgerOutcome.class.getPermittedSubclasses().length - 3 - 1);
  }

  private static MemoryLedger opened() {
    MemoryLedger ledger = new MemoryLedger();
    LedgerHistory.ACCOUNTS.forEach(ledger::open);
    return ledger;
  }

  /** As {@link PlainBank} says it. */
  private static String plain(LedgerOutcome outcome) {
    if (outcome instanceof TransferDone done) {
      return plain(done.transfer()) + (done.replayed() ? " again" : "");
    }
    if (outcome instanceof AllDone all) {
      return all.transfers().stream()
              .map(LedgerDecisionTest::plain)
              .collect(Collectors.joining(" ", "AllDone ", ""))
          + (all.replayed() ? " again" : "");
    }
    if (outcome instanceof Refused refused) {
      return "Refused " + refused.step() + " " + plain(refused.why());
    }
    String name = outcome.getClass().getSimpleName();
    if (outcome instanceof NotPending other) {
      return name + " " + other.transfer().state();
    }
    if (outcome instanceof InsufficientFunds lack) {
      return name + " " + lack.account().value() + " " + lack.available();
    }
    if (outcome instanceof UnknownAccount unknown) {
      return name + " " + unknown.account().value();
    }
    if (outcome instanceof CurrencyMismatch other) {
      return name + " " + other.account().value();
    }
    return outcome instanceof BalanceOverflow overflow
        ? name + " " + overflow.account().value()
        : name;
  }

  private static String plain(Transfer transfer) {
    return "TransferDone " + transfer.state() + " " + transfer.posted();
  }
}
