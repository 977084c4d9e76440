package dev.lockstep.ledger;

import dev.lockstep.ledger.Entry.Kind;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/** Reads values from rows of the ledger's tables. */
final class LedgerRows {
  static final String ACCOUNT =
      "account, name, currency, floor, balance, pending, version, changed_at";

  /** Columns of a transfer {@code t} and its source account {@code a}. */
  static final String TRANSFER =
      "t.transfer, t.source, t.target, t.amount, a.currency, t.state, t.posted, t.created_at,"
          + " t.expires_at, t.ended_at";

  static final String ENTRY = "account, version, transfer, kind, amount, balance, pending, at";

  private LedgerRows() {}

  static Account account(BookId book, ResultSet row) throws SQLException {
    long floor = row.getLong(4);
    OptionalLong atLeast = row.wasNull() ? OptionalLong.empty() : OptionalLong.of(floor);
    return new Account(
        book,
        new AccountId(row.getLong(1)),
        row.getString(2),
        row.getString(3),
        atLeast,
        row.getLong(5),
        row.getLong(6),
        row.getLong(7),
        instant(row, 8));
  }

  static Transfer transfer(BookId book, ResultSet row) throws SQLException {
    return new Transfer(
        book,
        new TransferId(row.getObject(1, UUID.class)),
        new AccountId(row.getLong(2)),
        new AccountId(row.getLong(3)),
        new Money(row.getLong(4), row.getString(5)),
        TransferState.of(row.getInt(6)),
        row.getLong(7),
        instant(row, 8),
        perhaps(row, 9),
        perhaps(row, 10));
  }

  static Entry entry(ResultSet row) throws SQLException {
    return new Entry(
        new AccountId(row.getLong(1)),
        row.getLong(2),
        new TransferId(row.getObject(3, UUID.class)),
        Kind.of(row.getInt(4)),
        row.getLong(5),
        row.getLong(6),
        row.getLong(7),
        instant(row, 8));
  }

  static Instant instant(ResultSet row, int column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant();
  }

  private static Optional<Instant> perhaps(ResultSet row, int column) throws SQLException {
    return Optional.ofNullable(row.getObject(column, OffsetDateTime.class))
        .map(OffsetDateTime::toInstant);
  }
}
