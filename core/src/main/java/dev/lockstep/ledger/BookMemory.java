package dev.lockstep.ledger;

import dev.lockstep.combine.Reliance;
import dev.lockstep.combine.Timely;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.Plan.AccountChange;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the last batches of a book left in its accounts, so that the next need not read them again:
 * a batch of new transfers between known accounts, all of which have enough, is written at once. A
 * transfer that is alone in its batch is written at once between any accounts ({@link LoneMove}).
 *
 * <p>Nothing depends on the memory being right. The writes compare each account with what is there
 * ({@link PlanWriter}), and where somebody else was faster the batch is decided again on locked
 * rows. A refusal is never given from memory, nor is a repetition recognised by it. Where it often
 * misses it is left alone for a while ({@link Reliance}).
 *
 * <p>Used by one writer of the book at a time.
 */
final class BookMemory {
  /**
   * A lone transfer needs nothing but the time, and whoever moves money every few seconds need not
   * read it each time. Two clocks drift apart by a millisecond meanwhile, if they are bad ones. The
   * database refuses a time that is off by more than {@link Timely} allows.
   */
  private static final Duration CLOCK_LASTS = Duration.ofSeconds(10);

  private static final int MAX_ACCOUNTS = 100_000;

  private final Reliance reliance = new Reliance(CLOCK_LASTS);
  private final Map<AccountId, Account> accounts = new HashMap<>();
  // False from when a batch begins to when it is known to have committed.
  private boolean certain;

  /** The state such a batch can be decided on without reading; empty: it has to be read. */
  Optional<LedgerState> recall(List<LedgerCommand<?>> commands, long nanos) {
    Optional<Instant> clock = reliance.begin(nanos);
    boolean known = certain;
    certain = false;
    Map<AccountId, Account> wanted = new HashMap<>();
    if (!known || clock.isEmpty() || !enough(commands, wanted)) {
      return Optional.empty();
    }
    reliance.rely();
    Instant now = clock.get();
    for (Account account : wanted.values()) {
      now = account.changedAt().isAfter(now) ? account.changedAt() : now;
    }
    return Optional.of(new LedgerState(now, wanted, Map.of(), List.of(), false));
  }

  /** The time at which such a transfer can be written without reading; empty: it must be read. */
  Optional<Instant> presume(Move move, long nanos) {
    Optional<Instant> clock = reliance.begin(nanos);
    certain = false;
    Account from = accounts.get(move.from());
    boolean lacks = from != null && from.available().orElse(Long.MAX_VALUE) < move.money().amount();
    if (clock.isEmpty() || lacks) {
      return Optional.empty();
    }
    reliance.rely();
    return clock;
  }

  /** A batch that read and locked what it needed has committed. */
  void learn(LedgerState state, long stateNanos, Plan plan) {
    if (accounts.size() > MAX_ACCOUNTS) {
      accounts.clear();
    }
    accounts.putAll(state.accounts());
    reliance.read(state.now(), stateNanos);
    follow(plan);
  }

  /** A batch that was decided from memory has committed. */
  void confirm(Plan plan) {
    if (reliance.confirm()) {
      follow(plan);
    }
  }

  /** A transfer that was presumed to be in order has committed. */
  void confirm(Transfer moved) {
    if (reliance.confirm()) {
      change(moved.from(), -moved.posted(), moved.createdAt());
      change(moved.to(), moved.posted(), moved.createdAt());
      certain = true;
    }
  }

  /** If nobody else was at the account. Else its version is beyond what is remembered. */
  private void change(AccountId account, long amount, Instant at) {
    accounts.computeIfPresent(
        account, (id, known) -> known.changed(known.balance() + amount, known.pending(), at));
  }

  private void follow(Plan plan) {
    for (AccountChange change : plan.accounts()) {
      accounts.put(change.after().id(), change.after());
    }
    certain = true;
  }

  /**
   * Whether all accounts are known, and have what all commands together take from them; what comes
   * in meanwhile is not counted on.
   */
  private boolean enough(List<LedgerCommand<?>> commands, Map<AccountId, Account> wanted) {
    Map<AccountId, Long> taken = new HashMap<>();
    for (LedgerCommand<?> command : commands) {
      if (!take(command, wanted, taken)) {
        return false;
      }
    }
    for (Map.Entry<AccountId, Long> one : taken.entrySet()) {
      Account account = wanted.get(one.getKey());
      if (account == null || account.available().orElse(Long.MAX_VALUE) < one.getValue()) {
        return false;
      }
    }
    return true;
  }

  private boolean take(
      LedgerCommand<?> command, Map<AccountId, Account> wanted, Map<AccountId, Long> taken) {
    if (command instanceof Move move) {
      return take(move.from(), move.to(), move.money(), wanted, taken);
    }
    if (command instanceof Reserve reserve) {
      return take(reserve.from(), reserve.to(), reserve.money(), wanted, taken);
    }
    return command instanceof Linked linked
        && linked.steps().stream().allMatch(step -> take(step, wanted, taken));
  }

  private boolean take(
      AccountId from,
      AccountId to,
      Money money,
      Map<AccountId, Account> wanted,
      Map<AccountId, Long> taken) {
    Account source = accounts.get(from);
    Account target = accounts.get(to);
    if (source == null || target == null) {
      return false;
    }
    wanted.put(from, source);
    wanted.put(to, target);
    taken.merge(from, money.amount(), BookMemory::sum);
    return true;
  }

  /** Never more than a long can say, which no account has. */
  private static long sum(long a, long b) {
    return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
  }
}
