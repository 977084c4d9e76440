package dev.lockstep.ledger;

import dev.lockstep.combine.CommandDecision;
import dev.lockstep.ledger.Entry.Kind;
import dev.lockstep.ledger.Plan.AccountChange;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Accounts and transfers of a batch while it is decided. Changes since {@link #begin} can be
 * undone; that makes linked steps all or none.
 */
final class Books {
  private final LedgerState state;
  private final Map<AccountId, Account> accounts;
  private final Map<TransferId, Transfer> transfers;
  private final Set<TransferId> inserted = new LinkedHashSet<>();
  private final Set<TransferId> ended = new LinkedHashSet<>();
  private final List<Entry> entries = new ArrayList<>();
  private final Deque<Runnable> undo = new ArrayDeque<>();
  private boolean undoable;

  Books(LedgerState state) {
    this.state = state;
    this.accounts = new HashMap<>(state.accounts());
    this.transfers = new HashMap<>(state.transfers());
  }

  Instant now() {
    return state.now();
  }

  Optional<Account> account(AccountId id) {
    return Optional.ofNullable(accounts.get(id));
  }

  Optional<Transfer> transfer(TransferId id) {
    return Optional.ofNullable(transfers.get(id));
  }

  /** Makes changes undoable until {@link #keep} or {@link #undo}. */
  void begin() {
    undoable = true;
  }

  void keep() {
    undo.clear();
    undoable = false;
  }

  void undo() {
    while (!undo.isEmpty()) {
      undo.pop().run();
    }
    undoable = false;
  }

  /** Adds an entry and changes the account. The caller has checked that the amounts fit. */
  void change(AccountId account, Transfer by, Kind kind, long amount, long reserved) {
    Account before = Objects.requireNonNull(accounts.get(account));
    Account after =
        before.changed(before.balance() + amount, before.pending() + reserved, state.now());
    accounts.put(after.id(), after);
    entries.add(
        new Entry(
            after.id(),
            after.version(),
            by.id(),
            kind,
            amount,
            after.balance(),
            after.pending(),
            state.now()));
    onUndo(
        () -> {
          accounts.put(before.id(), before);
          entries.remove(entries.size() - 1);
        });
  }

  void insert(Transfer transfer) {
    transfers.put(transfer.id(), transfer);
    inserted.add(transfer.id());
    onUndo(
        () -> {
          transfers.remove(transfer.id());
          inserted.remove(transfer.id());
        });
  }

  /** Ends a pending transfer. */
  void end(Transfer transfer) {
    Transfer before = Objects.requireNonNull(transfers.put(transfer.id(), transfer));
    boolean fresh = inserted.contains(transfer.id());
    if (!fresh) {
      ended.add(transfer.id());
    }
    onUndo(
        () -> {
          transfers.put(before.id(), before);
          if (!fresh) {
            ended.remove(before.id());
          }
        });
  }

  Plan plan(List<CommandDecision<LedgerOutcome>> decisions) {
    // Sorted, so that two batches that insert the same ids cannot deadlock.
    List<Transfer> fresh =
        inserted.stream().sorted().map(id -> Objects.requireNonNull(transfers.get(id))).toList();
    return new Plan(
        state.now(),
        fresh,
        ended.stream().map(id -> Objects.requireNonNull(transfers.get(id))).toList(),
        entries,
        accountChanges(),
        decisions);
  }

  private List<AccountChange> accountChanges() {
    Map<AccountId, AccountChange> changed = new TreeMap<>();
    accounts.forEach(
        (id, after) -> {
          Account before = Objects.requireNonNull(state.accounts().get(id));
          if (after.version() != before.version()) {
            changed.put(id, new AccountChange(before, after));
          }
        });
    return List.copyOf(changed.values());
  }

  private void onUndo(Runnable action) {
    if (undoable) {
      undo.push(action);
    }
  }
}
