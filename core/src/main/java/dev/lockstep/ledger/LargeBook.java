package dev.lockstep.ledger;

import dev.lockstep.combine.Slices;
import dev.lockstep.ledger.Entry.Kind;
import dev.lockstep.ledger.LedgerViolation.LedgerInvariant;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StoredEnum;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongConsumer;

/**
 * Checks the entries of a book that has too many for one short snapshot, a few thousand at a time.
 * Entries never change, so each slice may use its own snapshot. Compares each entry with the one
 * before it and with its transfer, and each account with its last entry.
 */
final class LargeBook {
  private static final int ACCOUNTS = 1_000;

  // An account without a mark starts before its first entry.
  private static final String NEXT_ACCOUNTS =
      """
      SELECT a.account, a.balance, a.pending, a.version,
        CASE WHEN f.everything THEN 0 ELSE coalesce(m.version, 0) END AS after,
        CASE WHEN f.everything THEN 0 ELSE coalesce(m.balance, 0) END AS after_balance,
        CASE WHEN f.everything THEN 0 ELSE coalesce(m.pending, 0) END AS after_pending
      FROM (VALUES (?::boolean)) AS f (everything)
      CROSS JOIN lockstep.account a
      LEFT JOIN lockstep.ledger_mark m ON m.book = a.book AND m.account = a.account
      WHERE a.book = ? AND a.account > ? AND (f.everything
        OR (a.version, a.balance, a.pending) IS DISTINCT FROM (m.version, m.balance, m.pending))
      ORDER BY a.account LIMIT ?""";

  // Only entries that moved or posted move money, by the amount their transfer posted.
  private static final String LOOK =
      StoredEnum.sql(
          """
      SELECT c.account, count(*) AS entries, max(c.version) AS last,
        min(c.version) FILTER (WHERE NOT c.linked) AS first_broken,
        (array_agg(c.balance ORDER BY c.version DESC))[1] AS balance,
        (array_agg(c.pending ORDER BY c.version DESC))[1] AS pending,
        min(c.version) FILTER (WHERE NOT c.told) AS first_untold
      FROM (
        SELECT e.account, e.version, e.balance, e.pending,
          e.version = lag(e.version, 1, x.after) OVER w + 1
            AND e.balance = lag(e.balance, 1, x.balance) OVER w + e.amount AS linked,
          (CASE WHEN e.kind IN ({Kind.MOVED}, {Kind.POSTED})
             THEN t.state = {TransferState.POSTED} AND e.amount = CASE e.account
             WHEN t.source THEN -t.posted WHEN t.target THEN t.posted END
             ELSE e.amount = 0 END) IS TRUE AS told
        FROM unnest(?, ?, ?, ?) AS x (account, after, upto, balance)
        JOIN lockstep.entry e
          ON e.book = ? AND e.account = x.account AND e.version > x.after AND e.version <= x.upto
        LEFT JOIN lockstep.transfer t ON t.book = ? AND t.transfer = e.transfer
        WINDOW w AS (PARTITION BY e.account ORDER BY e.version)) c
      GROUP BY c.account""",
          TransferState.class,
          Kind.class);

  // Two nodes may have checked at different times: the later mark stays.
  private static final String SAVE_MARKS =
      """
      INSERT INTO lockstep.ledger_mark AS m (book, account, version, balance, pending)
      SELECT ?, x.account, x.version, x.balance, x.pending
      FROM unnest(?, ?, ?, ?) AS x (account, version, balance, pending) ORDER BY x.account
      ON CONFLICT (book, account) DO UPDATE
      SET version = excluded.version, balance = excluded.balance, pending = excluded.pending
      WHERE m.version <= excluded.version""";

  private final Slices slices;
  private final long book;
  private final boolean everything;
  private final LongConsumer onAccounts;
  private final LongConsumer onEntries;
  private final List<LedgerViolation> violations = new ArrayList<>();
  private final Set<String> named = new HashSet<>();

  /**
   * @param onAccounts receives the number of further accounts checked
   * @param onEntries receives the number of further entries checked
   */
  LargeBook(
      Slices slices,
      long book,
      boolean everything,
      LongConsumer onAccounts,
      LongConsumer onEntries) {
    this.slices = slices;
    this.book = book;
    this.everything = everything;
    this.onAccounts = onAccounts;
    this.onEntries = onEntries;
  }

  /** An account, and where its next slice of entries begins. */
  private record Facts(
      long account,
      long balance,
      long pending,
      long version,
      long after,
      long afterBalance,
      long afterPending) {
    Facts at(long version, long balance, long pending) {
      return new Facts(
          account, this.balance, this.pending, this.version, version, balance, pending);
    }
  }

  private record Piece(
      long account,
      long entries,
      long last,
      long firstBroken,
      long balance,
      long pending,
      long firstUntold) {}

  List<LedgerViolation> violations() {
    long after = Long.MIN_VALUE;
    List<Facts> page;
    do {
      long from = after;
      page = slices.next(connection -> accounts(connection, from));
      check(page);
      after = page.isEmpty() ? after : page.get(page.size() - 1).account();
    } while (page.size() == ACCOUNTS);
    return violations;
  }

  private void check(List<Facts> accounts) {
    int before = violations.size();
    List<Facts> left = new ArrayList<>(accounts);
    while (!left.isEmpty()) {
      List<Facts> now = new ArrayList<>();
      List<Long> upTo = new ArrayList<>();
      long entries = 0;
      // Take as many accounts as fit, and a part of the last one.
      for (Facts account : left) {
        long room = slices.page() - entries;
        if (room <= 0) {
          break;
        }
        long until = Math.min(account.version(), account.after() + room);
        now.add(account);
        upTo.add(until);
        entries += Math.max(1, until - account.after());
      }
      List<Piece> pieces = slices.next(connection -> look(connection, now, upTo));
      left.subList(0, now.size()).clear();
      for (int i = now.size() - 1; i >= 0; i--) {
        Optional<Facts> rest = checked(now.get(i), upTo.get(i), pieces);
        if (rest.isPresent()) {
          left.add(0, rest.get());
        }
      }
    }
    onAccounts.accept(accounts.size());
    if (violations.size() == before && !accounts.isEmpty()) {
      save(accounts);
    }
  }

  /** Returns what is left to check of an account, if anything. */
  private Optional<Facts> checked(Facts account, long upTo, List<Piece> pieces) {
    Piece piece =
        pieces.stream()
            .filter(one -> one.account() == account.account())
            .findFirst()
            .orElse(
                new Piece(
                    account.account(),
                    0,
                    account.after(),
                    0,
                    account.afterBalance(),
                    account.afterPending(),
                    0));
    onEntries.accept(piece.entries());
    if (piece.firstUntold() != 0) {
      add(
          LedgerInvariant.DOUBLE_ENTRY,
          account,
          "Entry %d does not match its transfer.".formatted(piece.firstUntold()));
    }
    if (piece.firstBroken() != 0) {
      add(
          LedgerInvariant.ENTRY_CHAIN,
          account,
          "Entry %d does not continue from the entry before it.".formatted(piece.firstBroken()));
    }
    if (upTo < account.version() && piece.last() == upTo) {
      return Optional.of(account.at(piece.last(), piece.balance(), piece.pending()));
    }
    if (piece.last() != account.version()
        || piece.balance() != account.balance()
        || piece.pending() != account.pending()) {
      add(
          LedgerInvariant.ACCOUNT_ENTRIES,
          account,
          "The account has %d (%d reserved) at version %d; its entries end with %d (%d) at %d."
              .formatted(
                  account.balance(),
                  account.pending(),
                  account.version(),
                  piece.balance(),
                  piece.pending(),
                  piece.last()));
    }
    return Optional.empty();
  }

  /** Keeps only the first finding per check and account: one fault often causes others. */
  private void add(LedgerInvariant check, Facts account, String detail) {
    if (!named.add(check + " " + account.account())) {
      return;
    }
    violations.add(
        new LedgerViolation(
            check, new BookId(book), Optional.of(new AccountId(account.account())), detail));
  }

  private List<Facts> accounts(Connection connection, long after) throws SQLException {
    return RoundTrip.list(
        connection,
        NEXT_ACCOUNTS,
        row ->
            new Facts(
                row.getLong("account"),
                row.getLong("balance"),
                row.getLong("pending"),
                row.getLong("version"),
                row.getLong("after"),
                row.getLong("after_balance"),
                row.getLong("after_pending")),
        everything,
        book,
        after,
        ACCOUNTS);
  }

  private List<Piece> look(Connection connection, List<Facts> accounts, List<Long> upTo)
      throws SQLException {
    return RoundTrip.list(
        connection,
        LOOK,
        row ->
            new Piece(
                row.getLong("account"),
                row.getLong("entries"),
                row.getLong("last"),
                row.getLong("first_broken"),
                row.getLong("balance"),
                row.getLong("pending"),
                row.getLong("first_untold")),
        SqlArray.bigints(accounts.stream().map(Facts::account).toList()),
        SqlArray.bigints(accounts.stream().map(Facts::after).toList()),
        SqlArray.bigints(upTo),
        SqlArray.bigints(accounts.stream().map(Facts::afterBalance).toList()),
        book,
        book);
  }

  private void save(List<Facts> accounts) {
    Transactor transactor = slices.transactor();
    transactor.run(
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          trip.update(
              SAVE_MARKS,
              book,
              SqlArray.bigints(accounts.stream().map(Facts::account).toList()),
              SqlArray.bigints(accounts.stream().map(Facts::version).toList()),
              SqlArray.bigints(accounts.stream().map(Facts::balance).toList()),
              SqlArray.bigints(accounts.stream().map(Facts::pending).toList()));
          trip.send();
        });
  }
}
