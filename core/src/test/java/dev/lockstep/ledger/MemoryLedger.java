package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.CommandDecision;
import dev.lockstep.ledger.Plan.AccountChange;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** The tables of a book in memory, with the guards the database has. */
final class MemoryLedger {
  static final BookId BOOK = new BookId(1);

  final Map<AccountId, Account> accounts = new TreeMap<>();
  final Map<TransferId, Transfer> transfers = new TreeMap<>();
  final List<Entry> entries = new ArrayList<>();

  void open(NewAccount account) {
    accounts.put(
        account.id(),
        new Account(
            BOOK,
            account.id(),
            account.name(),
            account.currency(),
            account.floor(),
            0,
            0,
            0,
            Instant.EPOCH));
  }

  List<LedgerOutcome> decide(Instant now, List<LedgerCommand<?>> commands) {
    List<TransferId> expired =
        transfers.values().stream()
            .filter(transfer -> transfer.isDue(now))
            .sorted(Comparator.comparing(transfer -> transfer.expiresAt().orElseThrow()))
            .map(Transfer::id)
            .toList();
    Plan plan =
        Decision.decide(
            new LedgerState(now, Map.copyOf(accounts), Map.copyOf(transfers), expired, false),
            commands,
            false);
    apply(plan);
    return plan.decisions().stream().map(CommandDecision::outcome).toList();
  }

  private void apply(Plan plan) {
    for (Transfer transfer : plan.newTransfers()) {
      assertThat(transfers.put(transfer.id(), transfer)).as("new").isNull();
    }
    for (Transfer transfer : plan.endedTransfers()) {
      Transfer before = Objects.requireNonNull(transfers.put(transfer.id(), transfer));
      assertThat(before.state()).isEqualTo(TransferState.PENDING);
    }
    entries.addAll(plan.entries());
    for (AccountChange change : plan.accounts()) {
      Account before = Objects.requireNonNull(accounts.put(change.after().id(), change.after()));
      assertThat(change.before()).isEqualTo(before);
    }
  }

  /** All that is promised of the books, in numbers without bound. */
  void check() {
    Map<String, BigInteger> sums = new TreeMap<>();
    for (Account account : accounts.values()) {
      sums.merge(account.currency(), big(account.balance()), BigInteger::add);
      List<Entry> own =
          entries.stream().filter(entry -> entry.account().equals(account.id())).toList();
      BigInteger balance = BigInteger.ZERO;
      for (int i = 0; i < own.size(); i++) {
        balance = balance.add(big(own.get(i).amount()));
        assertThat(own.get(i).version()).isEqualTo(i + 1);
        assertThat(big(own.get(i).balance())).isEqualTo(balance);
      }
      assertThat(big(account.balance())).isEqualTo(balance);
      assertThat(account.version()).isEqualTo(own.size());
      BigInteger reserved =
          transfers.values().stream()
              .filter(t -> t.state() == TransferState.PENDING && t.from().equals(account.id()))
              .map(t -> big(t.money().amount()))
              .reduce(BigInteger.ZERO, BigInteger::add);
      assertThat(big(account.pending())).isEqualTo(reserved);
      account
          .floor()
          .ifPresent(
              floor ->
                  assertThat(balanceOf(account).subtract(reserved))
                      .isGreaterThanOrEqualTo(big(floor)));
    }
    assertThat(sums.values()).allMatch(sum -> sum.signum() == 0);
  }

  private static BigInteger balanceOf(Account account) {
    return big(account.balance());
  }

  private static BigInteger big(long value) {
    return BigInteger.valueOf(value);
  }
}
