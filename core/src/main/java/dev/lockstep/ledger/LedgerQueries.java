package dev.lockstep.ledger;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StoredEnum;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Queries that lock nothing, and statements that open books and accounts and set floors. */
final class LedgerQueries {
  private static final String OPEN_BOOK =
      "INSERT INTO lockstep.book (book) VALUES (?) ON CONFLICT DO NOTHING";

  private static final String OPEN_ACCOUNTS =
      """
      INSERT INTO lockstep.account (book, account, name, currency, floor, created_at, changed_at)
      SELECT b.book, x.account, x.name, x.currency, x.floor, now(), now()
      FROM lockstep.book b, unnest(?, ?, ?, ?) AS x (account, name, currency, floor)
      WHERE b.book = ?""";

  // Under the row's lock, like the decisions. Refuses a floor that the account is already below.
  private static final String SET_FLOOR =
      """
      UPDATE lockstep.account SET floor = ?
      WHERE book = ? AND account = ? AND balance - pending >= ?""";

  private static final String REMOVE_FLOOR =
      "UPDATE lockstep.account SET floor = NULL WHERE book = ? AND account = ?";

  private static final String ACCOUNTS =
      """
      SELECT %s FROM lockstep.account WHERE book = ? AND account > ? ORDER BY account LIMIT ?"""
          .formatted(LedgerRows.ACCOUNT);

  private static final String ACCOUNT =
      "SELECT %s FROM lockstep.account WHERE book = ? AND account = ?"
          .formatted(LedgerRows.ACCOUNT);

  private static final String TRANSFER =
      """
      SELECT %s FROM lockstep.transfer t
        JOIN lockstep.account a ON a.book = t.book AND a.account = t.source
      WHERE t.book = ? AND t.transfer = ?"""
          .formatted(LedgerRows.TRANSFER);

  private static final String ENTRIES =
      """
      SELECT %s FROM lockstep.entry
      WHERE book = ? AND account = ? AND version > ? AND version <= ? ORDER BY version LIMIT ?"""
          .formatted(LedgerRows.ENTRY);

  private static final String ENTRY =
      "SELECT %s FROM lockstep.entry WHERE book = ? AND account = ? AND version = ?"
          .formatted(LedgerRows.ENTRY);

  private static final String TRIAL_BALANCE =
      """
      SELECT currency, count(*), coalesce(sum(balance) FILTER (WHERE balance > 0), 0),
        coalesce(-sum(balance) FILTER (WHERE balance < 0), 0)
      FROM lockstep.account WHERE book = ? GROUP BY currency ORDER BY currency""";

  // One index probe per book.
  private static final String BOOKS_WITH_EXPIRED =
      StoredEnum.sql(
          """
      SELECT b.book FROM lockstep.book b
      CROSS JOIN LATERAL (
        SELECT FROM lockstep.transfer t
        WHERE t.book = b.book AND t.state = {TransferState.PENDING} AND t.expires_at <= now()
        ORDER BY t.expires_at LIMIT 1) due
      ORDER BY b.book""",
          TransferState.class);

  private LedgerQueries() {}

  static void openBook(Connection connection, BookId book) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(OPEN_BOOK, book.value());
    trip.send();
  }

  /** Inserts in ascending order, so that two callers who open the same accounts cannot deadlock. */
  static int openAccounts(
      Connection connection, BookId book, List<NewAccount> accounts, boolean unlessThere)
      throws SQLException {
    List<NewAccount> sorted = new ArrayList<>(accounts);
    sorted.sort(Comparator.comparing(NewAccount::id));
    RoundTrip trip = new RoundTrip(connection);
    Rows<Object> opened =
        trip.update(
            unlessThere ? OPEN_ACCOUNTS + " ON CONFLICT (book, account) DO NOTHING" : OPEN_ACCOUNTS,
            SqlArray.bigints(sorted.stream().map(account -> account.id().value()).toList()),
            SqlArray.texts(sorted.stream().map(NewAccount::name).toList()),
            SqlArray.texts(sorted.stream().map(NewAccount::currency).toList()),
            SqlArray.bigints(sorted.stream().map(LedgerQueries::floor).toList()),
            book.value());
    trip.send();
    return opened.changed();
  }

  static boolean setFloor(Connection connection, BookId book, AccountId account, OptionalLong floor)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Object> changed =
        floor.isPresent()
            ? trip.update(
                SET_FLOOR, floor.getAsLong(), book.value(), account.value(), floor.getAsLong())
            : trip.update(REMOVE_FLOOR, book.value(), account.value());
    trip.send();
    return changed.changed() == 1;
  }

  static Optional<Account> account(Connection connection, BookId book, AccountId account)
      throws SQLException {
    return RoundTrip.list(
            connection,
            ACCOUNT,
            row -> LedgerRows.account(book, row),
            book.value(),
            account.value())
        .stream()
        .findFirst();
  }

  static List<Account> accounts(Connection connection, BookId book, AccountId after, int limit)
      throws SQLException {
    return RoundTrip.list(
        connection,
        ACCOUNTS,
        row -> LedgerRows.account(book, row),
        book.value(),
        after.value(),
        limit);
  }

  static Optional<Transfer> transfer(Connection connection, BookId book, TransferId transfer)
      throws SQLException {
    return RoundTrip.list(
            connection,
            TRANSFER,
            row -> LedgerRows.transfer(book, row),
            book.value(),
            transfer.value())
        .stream()
        .findFirst();
  }

  /** Entries after one version, up to and including another. */
  static List<Entry> entries(
      Connection connection, BookId book, AccountId account, Versions range, int limit)
      throws SQLException {
    return RoundTrip.list(
        connection,
        ENTRIES,
        LedgerRows::entry,
        book.value(),
        account.value(),
        range.after(),
        range.upTo(),
        limit);
  }

  record Versions(long after, long upTo) {}

  /**
   * Returns the newest entry at or before the time; empty if there is none. Versions are dense and
   * in the order of their times, so a binary search by key finds it, and no entry has to maintain
   * an index on time.
   */
  static Optional<Entry> entryAt(
      Connection connection, BookId book, AccountId account, Instant time) throws SQLException {
    long from = 0;
    long to = account(connection, book, account).map(Account::version).orElse(0L);
    Optional<Entry> found = Optional.empty();
    while (from < to) {
      long middle = to - (to - from) / 2;
      Entry entry =
          RoundTrip.list(
                  connection, ENTRY, LedgerRows::entry, book.value(), account.value(), middle)
              .get(0);
      if (entry.at().isAfter(time)) {
        to = middle - 1;
      } else {
        from = middle;
        found = Optional.of(entry);
      }
    }
    return found;
  }

  static Statement statement(
      Connection connection, BookId book, AccountId account, Instant after, Instant upTo, int limit)
      throws SQLException {
    Optional<Entry> first = entryAt(connection, book, account, after);
    Optional<Entry> last = entryAt(connection, book, account, upTo);
    Versions range =
        new Versions(first.map(Entry::version).orElse(0L), last.map(Entry::version).orElse(0L));
    List<Entry> entries = entries(connection, book, account, range, limit);
    long opening = first.map(Entry::balance).orElse(0L);
    long closing = entries.isEmpty() ? opening : entries.get(entries.size() - 1).balance();
    return new Statement(opening, entries, closing, range.upTo() - range.after() > entries.size());
  }

  static List<TrialBalance> trialBalance(Connection connection, BookId book) throws SQLException {
    return RoundTrip.list(
        connection,
        TRIAL_BALANCE,
        row ->
            new TrialBalance(
                row.getString(1),
                row.getLong(2),
                row.getBigDecimal(3).toBigIntegerExact(),
                row.getBigDecimal(4).toBigIntegerExact()),
        book.value());
  }

  static List<BookId> booksWithExpired(Connection connection) throws SQLException {
    return RoundTrip.list(connection, BOOKS_WITH_EXPIRED, row -> new BookId(row.getLong(1)));
  }

  private static @Nullable Long floor(NewAccount account) {
    return account.floor().isPresent() ? account.floor().getAsLong() : null;
  }
}
