package dev.lockstep.ledger;

import dev.lockstep.combine.CacheTrust;
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
 * Remembers what the last batches of a book left in its accounts, so that the next need not read
 * them. A batch of new transfers between known accounts with enough money is written at once. A
 * transfer that is alone in its batch is written at once between any accounts ({@link
 * SingleTransfer}).
 *
 * <p>Correctness does not depend on the cache. The writes compare each account with the actual row
 * ({@link PlanWriter}); if another node was faster, the batch is decided again on locked rows.
 * Neither a refusal nor a replay ever comes from the cache. If it misses often, it pauses ({@link
 * CacheTrust}).
 *
 * <p>Used by one writer of the book at a time.
 */
final class BookCache {
  /**
   * A single transfer needs only the time, and a client that moves money every few seconds should
   * not have to read it each time. In this time two bad clocks drift apart by a millisecond. The
   * database refuses a time that is off by more than {@link Timely} allows.
   */
  private static final Duration CLOCK_LASTS = Duration.ofSeconds(10);

  private static final int MAX_ACCOUNTS = 100_000;

  private final CacheTrust trust = new CacheTrust(CLOCK_LASTS);
  private final Map<AccountId, Account> accounts = new HashMap<>();
  // False from the start of a batch until its commit is known.
  private boolean certain;

  /** The state to decide these commands on without reading; empty if the batch must read. */
  Optional<LedgerState> recall(List<LedgerCommand<?>> commands, long nanos) {
    Optional<Instant> clock = trust.begin(nanos);
    boolean known = certain;
    certain = false;
    Map<AccountId, Account> wanted = new HashMap<>();
    if (!known || clock.isEmpty() || !enough(commands, wanted)) {
      return Optional.empty();
    }
    trust.rely();
    Instant now = clock.get();
    for (Account account : wanted.values()) {
      now = account.changedAt().isAfter(now) ? account.changedAt() : now;
    }
    return Optional.of(new LedgerState(now, wanted, Map.of(), List.of(), false));
  }

  /** The time to date this single transfer without reading; empty if the batch must read. */
  Optional<Instant> presume(Move move, long nanos) {
    Optional<Instant> clock = trust.begin(nanos);
    certain = false;
    Account from = accounts.get(move.from());
    boolean lacks = from != null && from.available().orElse(Long.MAX_VALUE) < move.money().amount();
    if (clock.isEmpty() || lacks) {
      return Optional.empty();
    }
    trust.rely();
    return clock;
  }

  /** Records a committed batch that read and locked its accounts. */
  void learn(LedgerState state, long stateNanos, Plan plan) {
    if (accounts.size() > MAX_ACCOUNTS) {
      accounts.clear();
    }
    accounts.putAll(state.accounts());
    trust.read(state.now(), stateNanos);
    follow(plan);
  }

  /** Records a committed batch that was decided from the cache. */
  void confirm(Plan plan) {
    if (trust.confirm()) {
      follow(plan);
    }
  }

  /** Records a committed single transfer. */
  void confirm(Transfer moved) {
    if (trust.confirm()) {
      change(moved.from(), -moved.posted(), moved.createdAt());
      change(moved.to(), moved.posted(), moved.createdAt());
      certain = true;
    }
  }

  /**
   * Right only if no other writer changed the account; otherwise its version is ahead of ours and
   * the next write from the cache fails.
   */
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
   * Whether all accounts are known and can pay for all commands together. Money that these commands
   * bring in does not count.
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
    taken.merge(from, money.amount(), BookCache::sum);
    return true;
  }

  /** Adds, at most to {@link Long#MAX_VALUE}, which exceeds what any account has. */
  private static long sum(long a, long b) {
    return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
  }
}
