package dev.lockstep.ledger;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Reads transfers and accounts as stored, thousands per statement, for checks that compare them
 * with other records.
 *
 * <p>Every method runs on the caller's connection, in one round trip, reads by key and locks
 * nothing. To compare what several of them read, use a transaction with {@link
 * dev.lockstep.tx.Isolation#REPEATABLE_READ}: all its statements see one snapshot. With {@link
 * dev.lockstep.tx.TxOptions#indexLookups} a plan never scans a table, whatever the statistics say.
 */
public final class LedgerRecords {
  /** The most rows that are looked up at once. */
  public static final int MAX_ROWS = Ledger.MAX_PAGE;

  private static final String TRANSFERS =
      """
      SELECT %s, t.book FROM unnest(?, ?) AS wanted (book, transfer)
      JOIN lockstep.transfer t ON t.book = wanted.book AND t.transfer = wanted.transfer
      JOIN lockstep.account a ON a.book = t.book AND a.account = t.source"""
          .formatted(LedgerRows.TRANSFER);

  private static final String OPENED_AT =
      "SELECT book, created_at FROM lockstep.account WHERE book = ANY (?) AND account = ?";

  private LedgerRecords() {}

  /** Finds these transfers, as last written. Transfers that do not exist are left out. */
  public static List<Transfer> transfers(
      Connection connection, Map<BookId, ? extends Collection<TransferId>> wanted)
      throws SQLException {
    List<Long> books = new ArrayList<>();
    List<UUID> ids = new ArrayList<>();
    wanted.forEach(
        (book, transfers) ->
            transfers.forEach(
                transfer -> {
                  books.add(book.value());
                  ids.add(transfer.value());
                }));
    if (ids.isEmpty()) {
      return List.of();
    }
    requireRows(ids.size());
    return RoundTrip.list(
        connection,
        TRANSFERS,
        row -> LedgerRows.transfer(new BookId(row.getLong("book")), row),
        SqlArray.bigints(books),
        SqlArray.uuids(ids));
  }

  /** When this account was opened in each of these books. Books without it are left out. */
  public static Map<BookId, Instant> openedAt(
      Connection connection, AccountId account, Collection<BookId> books) throws SQLException {
    if (books.isEmpty()) {
      return Map.of();
    }
    requireRows(books.size());
    Map<BookId, Instant> opened = new HashMap<>();
    RoundTrip trip = new RoundTrip(connection);
    trip.query(
        OPENED_AT,
        row -> opened.put(new BookId(row.getLong(1)), LedgerRows.instant(row, 2)),
        SqlArray.bigints(books.stream().map(BookId::value).toList()),
        account.value());
    trip.send();
    return opened;
  }

  private static void requireRows(int rows) {
    if (rows > MAX_ROWS) {
      throw new IllegalArgumentException(
          "at most " + MAX_ROWS + " rows are read at once, not " + rows);
    }
  }
}
