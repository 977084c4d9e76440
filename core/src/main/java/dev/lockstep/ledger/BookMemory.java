package dev.lockstep.ledger;

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
import org.jspecify.annotations.Nullable;

/**
 * What the last batches of a book left in its accounts, so that the next need not read them again:
 * a batch of new transfers between known accounts, all of which have enough, is written at once. A
 * transfer that is alone in its batch is written at once between any accounts ({@link LoneMove}).
 *
 * <p>Nothing depends on the memory being right. The writes compare each account with what is there
 * ({@link PlanWriter}), and where somebody else was faster the batch is decided again on locked
 * rows. A refusal is never given from memory, nor is a repetition recognised by it.
 *
 * <p>Several nodes that write to one book would miss again and again, and so would a client that
 * repeats itself: after a miss the memory is left alone for a while, longer each time.
 *
 * <p>Used by one writer of the book at a time.
 */
final class BookMemory {
  /**
   * How long the database's clock is carried on by our own. Two clocks drift apart by a millisecond
   * in that time, if they are bad ones; and who comes every few seconds need not read it each time.
   */
  private static final Duration CLOCK_LASTS = Duration.ofSeconds(10);

  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final int MAX_DOUBLINGS = 7;
  private static final int MAX_ACCOUNTS = 100_000;

  private final Map<AccountId, Account> accounts = new HashMap<>();
  // Null: the database's clock was never read.
  private @Nullable Instant readAt;
  private long readNanos;
  // False from when a batch begins to when it is known to have committed.
  private boolean certain;
  private boolean relied;
  private int misses;
  private long pausedUntilNanos;

  /** The state such a batch can be decided on without reading; empty: it has to be read. */
  Optional<LedgerState> recall(List<LedgerCommand<?>> commands, long nanos) {
    noteMiss(nanos);
    boolean known = certain;
    certain = false;
    Instant now = clock(nanos);
    Map<AccountId, Account> wanted = new HashMap<>();
    if (!known || now == null || !enough(commands, wanted)) {
      return Optional.empty();
    }
    relied = true;
    for (Account account : wanted.values()) {
      now = account.changedAt().isAfter(now) ? account.changedAt() : now;
    }
    return Optional.of(new LedgerState(now, wanted, Map.of(), List.of()));
  }

  /** The time at which such a transfer can be written without reading; empty: it must be read. */
  Optional<Instant> presume(Move move, long nanos) {
    noteMiss(nanos);
    certain = false;
    Instant now = clock(nanos);
    Account from = accounts.get(move.from());
    boolean lacks = from != null && from.available().orElse(Long.MAX_VALUE) < move.money().amount();
    if (now == null || lacks) {
      return Optional.empty();
    }
    relied = true;
    return Optional.of(now);
  }

  /** The database's, carried on; null while it is not to be relied on, nor anything else here. */
  private @Nullable Instant clock(long nanos) {
    Instant read = readAt;
    boolean usable =
        nanos - readNanos < CLOCK_LASTS.toNanos() && (misses == 0 || nanos - pausedUntilNanos >= 0);
    return read != null && usable ? read.plusNanos((nanos - readNanos) / 1_000 * 1_000) : null;
  }

  /** A batch that read and locked what it needed has committed. */
  void learn(LedgerState state, long stateNanos, Plan plan) {
    if (accounts.size() > MAX_ACCOUNTS) {
      accounts.clear();
    }
    accounts.putAll(state.accounts());
    readAt = state.now();
    readNanos = stateNanos;
    follow(plan);
  }

  /** A batch that was decided from memory has committed. */
  void confirm(Plan plan) {
    if (relied) {
      relied = false;
      misses = 0;
      follow(plan);
    }
  }

  /** A transfer that was presumed to be in order has committed. */
  void confirm(Transfer moved) {
    if (relied) {
      relied = false;
      misses = 0;
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

  private void noteMiss(long nanos) {
    if (relied) {
      relied = false;
      pausedUntilNanos = nanos + (FIRST_PAUSE.toNanos() << Math.min(misses, MAX_DOUBLINGS));
      misses++;
    }
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
