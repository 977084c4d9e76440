package dev.lockstep.ledger;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.ledger.LedgerCommand.Cancel;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Post;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.Transfer.State;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StoredEnum;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * Locks the accounts that a batch needs, ascending, and reads the rest. Takes one round trip, or
 * two if a transfer is repeated or has expired.
 *
 * <p>Only accounts are locked. Every writer that inserts, posts or ends a transfer has locked the
 * account it leaves. So what a later snapshot reads of the transfer stays true.
 */
final class StateReader {
  private static final String LOCK_ACCOUNTS =
      """
      SELECT %s FROM lockstep.account
      WHERE book = ? AND account = ANY (?) ORDER BY account FOR UPDATE"""
          .formatted(LedgerRows.ACCOUNT);

  // Also locks the accounts of transfers to post or void. A transfer never changes its accounts.
  private static final String LOCK_ACCOUNTS_OF_TRANSFERS =
      """
      SELECT %s FROM lockstep.account
      WHERE book = ? AND account = ANY (ARRAY(
        SELECT unnest(?)
        UNION SELECT source FROM lockstep.transfer WHERE book = ? AND transfer = ANY (?)
        UNION SELECT target FROM lockstep.transfer WHERE book = ? AND transfer = ANY (?)))
      ORDER BY account FOR UPDATE"""
          .formatted(LedgerRows.ACCOUNT);

  private static final String LOCK_ACCOUNTS_OF_EXPIRED =
      StoredEnum.sql(
          """
      SELECT %s FROM lockstep.account
      WHERE book = ? AND account = ANY (ARRAY(
        SELECT unnest(?)
        UNION SELECT source FROM lockstep.transfer WHERE book = ? AND transfer = ANY (?)
        UNION SELECT target FROM lockstep.transfer WHERE book = ? AND transfer = ANY (?)
        UNION SELECT due.source
              FROM (SELECT source FROM lockstep.transfer
                    WHERE book = ? AND state = {State.PENDING} AND expires_at <= now()
                    ORDER BY expires_at LIMIT ?) due))
      ORDER BY account FOR UPDATE"""
              .formatted(LedgerRows.ACCOUNT),
          State.class);

  // Runs once the accounts are locked, and takes the clock of that moment. At BEGIN another
  // transaction may still have held them.
  private static final String READ_FACTS =
      StoredEnum.sql(
          """
      SELECT clock_timestamp(),
        EXISTS (SELECT FROM lockstep.transfer
                WHERE book = ? AND state = {State.PENDING} AND expires_at <= statement_timestamp()),
        EXISTS (SELECT FROM lockstep.transfer WHERE book = ? AND transfer = ANY (?))""",
          State.class);

  // A transfer stores no currency: both its accounts have the same.
  private static final String READ_TRANSFERS =
      """
      SELECT %s FROM lockstep.transfer t
        JOIN lockstep.account a ON a.book = t.book AND a.account = t.source
      WHERE t.book = ? AND t.transfer = ANY (?)"""
          .formatted(LedgerRows.TRANSFER);

  // Only transfers out of locked accounts.
  private static final String READ_EXPIRED =
      StoredEnum.sql(
          """
      SELECT %s FROM lockstep.transfer t
        JOIN lockstep.account a ON a.book = t.book AND a.account = t.source
      WHERE t.book = ? AND t.state = {State.PENDING} AND t.expires_at <= ? AND t.source = ANY (?)
      ORDER BY t.expires_at LIMIT ?"""
              .formatted(LedgerRows.TRANSFER),
          State.class);

  // An empty array would let the planner prove anything, and not use the key.
  private static final UUID NO_TRANSFER = new UUID(0, 0);

  private final BookId book;
  private final int sweepBatch;
  private final boolean sweeps;
  private final Set<Long> accounts = new TreeSet<>();
  private final Set<UUID> transfers = new TreeSet<>();
  // The subset to post or void, whose accounts are needed.
  private final Set<UUID> touched = new TreeSet<>();

  /**
   * @param sweeps also lock accounts with expired outgoing transfers that no command names
   */
  StateReader(BookId book, List<LedgerCommand<?>> commands, int sweepBatch, boolean sweeps) {
    this.book = book;
    this.sweepBatch = sweepBatch;
    this.sweeps = sweeps;
    commands.forEach(this::add);
    transfers.add(NO_TRANSFER);
  }

  private void add(LedgerCommand<?> command) {
    if (command instanceof Move move) {
      name(move.id(), move.from(), move.to());
    } else if (command instanceof Reserve reserve) {
      name(reserve.id(), reserve.from(), reserve.to());
    } else if (command instanceof Post post) {
      touch(post.id());
    } else if (command instanceof Cancel cancel) {
      touch(cancel.id());
    } else {
      ((Linked) command).steps().forEach(this::add);
    }
  }

  private void name(TransferId id, AccountId from, AccountId to) {
    transfers.add(id.value());
    accounts.add(from.value());
    accounts.add(to.value());
  }

  private void touch(TransferId id) {
    transfers.add(id.value());
    touched.add(id.value());
  }

  private record Facts(Instant now, boolean expired, boolean known) {}

  LedgerState read(Exchange exchange) throws SQLException {
    long b = book.value();
    SqlArray ids = SqlArray.uuids(transfers);
    RoundTrip trip = exchange.trip();
    Rows<Account> locked = lock(trip);
    Rows<Facts> facts = trip.query(READ_FACTS, StateReader::facts, b, b, ids);
    List<Rows<Transfer>> named = new ArrayList<>();
    if (!touched.isEmpty()) {
      named.add(readTransfers(trip, ids));
    }
    trip.send();
    Facts found = facts.list().get(0);
    Map<AccountId, Account> byId = new HashMap<>();
    locked.list().forEach(account -> byId.put(account.id(), account));
    Instant now = notBefore(found.now(), locked.list());

    RoundTrip more = exchange.trip();
    if (found.known() && named.isEmpty()) {
      named.add(readTransfers(more, ids));
    }
    List<Rows<Transfer>> due = new ArrayList<>();
    if (found.expired()) {
      due.add(readExpired(more, now, byId.keySet()));
    }
    more.send();
    Map<TransferId, Transfer> known = new HashMap<>();
    List<TransferId> expired = new ArrayList<>();
    for (Rows<Transfer> rows : named) {
      rows.list().forEach(transfer -> known.put(transfer.id(), transfer));
    }
    for (Rows<Transfer> rows : due) {
      for (Transfer transfer : rows.list()) {
        known.put(transfer.id(), transfer);
        expired.add(transfer.id());
      }
    }
    requireAccountsOf(known, byId);
    boolean rest = expired.size() > sweepBatch;
    return new LedgerState(now, byId, known, rest ? expired.subList(0, sweepBatch) : expired, rest);
  }

  private Rows<Transfer> readExpired(RoundTrip trip, Instant now, Set<AccountId> locked) {
    return trip.query(
        READ_EXPIRED,
        row -> LedgerRows.transfer(book, row),
        book.value(),
        now.atOffset(ZoneOffset.UTC),
        SqlArray.bigints(locked.stream().map(AccountId::value).toList()),
        sweepBatch + 1L);
  }

  private Rows<Account> lock(RoundTrip trip) {
    long b = book.value();
    SqlArray named = SqlArray.bigints(accounts);
    if (touched.isEmpty() && !sweeps) {
      return trip.query(LOCK_ACCOUNTS, this::account, b, named);
    }
    Set<UUID> leading = new TreeSet<>(touched);
    leading.add(NO_TRANSFER);
    SqlArray ids = SqlArray.uuids(leading);
    return sweeps
        ? trip.query(
            LOCK_ACCOUNTS_OF_EXPIRED, this::account, b, named, b, ids, b, ids, b, sweepBatch)
        : trip.query(LOCK_ACCOUNTS_OF_TRANSFERS, this::account, b, named, b, ids, b, ids);
  }

  private Rows<Transfer> readTransfers(RoundTrip trip, SqlArray ids) {
    return trip.query(READ_TRANSFERS, row -> LedgerRows.transfer(book, row), book.value(), ids);
  }

  /** Keeps an account's entries in the order of their times, even if a clock was set back. */
  private static Instant notBefore(Instant clock, List<Account> accounts) {
    Instant latest = clock;
    for (Account account : accounts) {
      latest = account.changedAt().isAfter(latest) ? account.changedAt() : latest;
    }
    return latest;
  }

  /**
   * Fails if a transfer was reserved after we looked up which accounts to lock: its accounts are
   * not locked, so this transaction cannot decide about it.
   */
  private void requireAccountsOf(Map<TransferId, Transfer> known, Map<AccountId, Account> locked)
      throws SQLException {
    for (UUID id : touched) {
      Transfer transfer = known.get(new TransferId(id));
      if (transfer != null
          && !(locked.containsKey(transfer.from()) && locked.containsKey(transfer.to()))) {
        throw SqlFault.conflict(
            "Transfer %s was made while its accounts were being locked; run again".formatted(id));
      }
    }
  }

  private Account account(ResultSet row) throws SQLException {
    return LedgerRows.account(book, row);
  }

  private static Facts facts(ResultSet row) throws SQLException {
    return new Facts(LedgerRows.instant(row, 1), row.getBoolean(2), row.getBoolean(3));
  }
}
