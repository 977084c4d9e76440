package dev.lockstep.ledger;

import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Post;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerCommand.VoidPending;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;

/** Accounts of every kind, and batches of commands on few transfers, so that they meet. */
record LedgerHistory(List<Step> steps) {
  static final BookId BOOK = MemoryLedger.BOOK;

  static final List<NewAccount> ACCOUNTS =
      List.of(
          NewAccount.withoutFloor(new AccountId(1), "world", "JPY"),
          NewAccount.of(new AccountId(2), "a purse", "JPY"),
          NewAccount.withCreditLine(new AccountId(3), "on credit", "JPY", 50),
          NewAccount.withoutFloor(new AccountId(4), "dollars", "USD"),
          NewAccount.withoutFloor(new AccountId(5), "another world", "JPY"));

  private static final int TRANSFERS = 12;

  /** Commands that are decided together, so long after the ones before. */
  record Step(int secondsLater, List<LedgerCommand<?>> commands) {}

  static Arbitrary<LedgerHistory> histories() {
    Arbitrary<LedgerCommand<?>> commands =
        Arbitraries.frequencyOf(Tuple.of(8, single()), Tuple.of(2, linked()));
    return Combinators.combine(
            Arbitraries.integers().between(0, 40), commands.list().ofMinSize(1).ofMaxSize(5))
        .as(Step::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(12)
        .map(LedgerHistory::new);
  }

  private static Arbitrary<LedgerCommand<?>> linked() {
    return single()
        .list()
        .ofMinSize(1)
        .ofMaxSize(3)
        .uniqueElements(LedgerHistory::id)
        .map(steps -> new Linked(BOOK, new ArrayList<>(steps)));
  }

  private static Arbitrary<LedgerCommand<?>> single() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 9),
            Arbitraries.integers().between(1, TRANSFERS).map(LedgerHistory::transfer),
            Arbitraries.integers().between(1, 6),
            Arbitraries.integers().between(1, 5),
            amounts(),
            Arbitraries.frequency(Tuple.of(9, "JPY"), Tuple.of(1, "USD")))
        .as(LedgerHistory::command);
  }

  private static Arbitrary<Long> amounts() {
    return Arbitraries.frequencyOf(
        Tuple.of(16, Arbitraries.longs().between(1, 60)),
        Tuple.of(1, Arbitraries.of(Long.MAX_VALUE, Long.MAX_VALUE - 30)));
  }

  private static LedgerCommand<?> command(
      int kind, TransferId id, int from, int shift, long amount, String currency) {
    // Account 6 is not there.
    AccountId source = new AccountId(from);
    AccountId target = new AccountId(1 + (from - 1 + shift) % 6);
    Money money = new Money(amount, currency);
    if (kind < 4) {
      return new Move(BOOK, id, source, target, money);
    }
    if (kind < 7) {
      return new Reserve(BOOK, id, source, target, money, Duration.ofSeconds(30 + shift));
    }
    if (kind < 9) {
      return new Post(BOOK, id, shift > 2 ? OptionalLong.empty() : OptionalLong.of(amount));
    }
    return new VoidPending(BOOK, id);
  }

  private static TransferId id(LedgerCommand<?> command) {
    if (command instanceof Move move) {
      return move.id();
    }
    if (command instanceof Reserve reserve) {
      return reserve.id();
    }
    return command instanceof Post post ? post.id() : ((VoidPending) command).id();
  }

  private static TransferId transfer(int number) {
    return new TransferId(new UUID(0, number));
  }
}
