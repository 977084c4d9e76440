package dev.lockstep.ledger;

import static dev.lockstep.sql.SqlArray.column;

import dev.lockstep.combine.Timely;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.ledger.Plan.AccountChange;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.GuardFailed;
import dev.lockstep.sql.IndexLookups;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StoredEnum;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes a plan in one round trip, together with COMMIT if nothing follows.
 *
 * <p>The rows should still be as the plan saw them: the accounts are locked, or no other node has
 * written since. But another node may have been faster, or may have made the same transfer. So each
 * statement guards itself: if a row is not as seen, a table constraint refuses it. The transaction
 * fails, the caller's own too, and runs again on the current rows.
 *
 * <p>Up to four updates take one statement each. For more, one statement joins the table. It
 * repeats the keys ({@code = ANY}), so that it reads just those rows whatever the planner believes
 * about a book. It joins by hash: a nested loop would compare every row with every new value.
 */
final class PlanWriter {
  /** Up to this many rows, one statement per row is faster than one join. */
  private static final int FEW = 4;

  // Joining the book's row keeps the statement on one shard. An existing transfer makes it fail. A
  // new transfer that is no longer pending ended in this batch.
  private static final String INSERT_TRANSFERS =
      StoredEnum.sql(
          """
      INSERT INTO lockstep.transfer (book, transfer, source, target, amount, posted, state, created_at,
        expires_at, ended_at)
      SELECT b.book, x.transfer, x.source, x.target, x.amount, x.posted, x.state, ?,
        timestamptz 'epoch' + interval '1 microsecond' * x.expires_at,
        CASE WHEN x.state <> {TransferState.PENDING} THEN ?::timestamptz END
      FROM lockstep.book b,
        unnest(?, ?, ?, ?, ?, ?, ?)
          AS x (transfer, source, target, amount, posted, state, expires_at)
      WHERE b.book = ?""",
          TransferState.class);

  // The compare-and-set that lets a transfer end only once: otherwise state becomes NULL, which the
  // column refuses.
  private static final String UPDATE_TRANSFER =
      StoredEnum.sql(
          """
      UPDATE lockstep.transfer
      SET state = CASE WHEN state = {TransferState.PENDING} THEN ?::smallint END, posted = ?, ended_at = ?
      WHERE book = ? AND transfer = ?""",
          TransferState.class);

  private static final String UPDATE_TRANSFERS =
      StoredEnum.sql(
          """
      UPDATE lockstep.transfer t
      SET state = CASE WHEN t.state = {TransferState.PENDING} THEN x.state END,
        posted = x.posted, ended_at = ?
      FROM unnest(?, ?, ?) AS x (transfer, state, posted)
      WHERE t.book = ? AND t.transfer = x.transfer AND t.transfer = ANY (?)""",
          TransferState.class);

  // Fails if another writer has inserted an entry of the same version.
  private static final String INSERT_ENTRIES =
      """
      INSERT INTO lockstep.entry (book, account, version, transfer, kind, amount, balance, pending, at)
      SELECT b.book, x.account, x.version, x.transfer, x.kind, x.amount, x.balance, x.pending, ?
      FROM lockstep.book b,
        unnest(?, ?, ?, ?, ?, ?, ?)
          AS x (account, version, transfer, kind, amount, balance, pending)
      WHERE b.book = ?""";

  // Locks accounts that were only remembered: in one statement, ascending, like every other writer.
  private static final String LOCK_ACCOUNTS =
      """
      SELECT FROM lockstep.account
      WHERE book = ? AND account = ANY (?) ORDER BY account FOR UPDATE""";

  // If the row is not as seen, version becomes NULL, which the column refuses. A CHECK guards the
  // floor. The version alone would suffice, except against a database that lost committed changes.
  // The statements run one after the other and lock the accounts ascending, like every other
  // writer.
  private static final String UPDATE_ACCOUNT =
      """
      UPDATE lockstep.account
      SET version = CASE WHEN version = ? AND balance = ? AND pending = ? THEN ?::bigint END,
        balance = ?, pending = ?, changed_at = ?
      WHERE book = ? AND account = ?""";

  private static final String UPDATE_ACCOUNTS =
      """
      UPDATE lockstep.account a
      SET version = CASE WHEN a.version = x.version_before AND a.balance = x.balance_before
          AND a.pending = x.pending_before THEN x.version END,
        balance = x.balance, pending = x.pending, changed_at = ?
      FROM unnest(?, ?, ?, ?, ?, ?, ?)
        AS x (account, version_before, balance_before, pending_before, version, balance, pending)
      WHERE a.book = ? AND a.account = x.account AND a.account = ANY (?)""";

  private final long book;
  private final Plan plan;
  private final OffsetDateTime now;

  PlanWriter(BookId book, Plan plan) {
    this.book = book.value();
    this.plan = plan;
    this.now = plan.now().atOffset(ZoneOffset.UTC);
  }

  /** Writes the plan, in one round trip with the companions' statements or with COMMIT. */
  void write(Exchange exchange) throws SQLException {
    RoundTrip trip = exchange.trip();
    trip.guarded(this::orConflict, guarded -> addTo(guarded, () -> {}));
    exchange.defer(trip);
  }

  /**
   * Writes a plan of new transfers that was decided on cached accounts; the statements guard
   * everything it rests on. If the attempt is lost and the work runs again, the accounts' versions
   * and the existing transfers refuse the lost attempt. The clock refuses it if it comes late.
   */
  void writeUnread(Exchange exchange) throws SQLException {
    RoundTrip trip = exchange.trip();
    trip.guarded(
        this::orLookAgain,
        guarded -> {
          if (plan.accounts().size() > FEW) {
            List<Long> ids = column(plan.accounts(), change -> change.after().id().value());
            guarded.query(LOCK_ACCOUNTS, row -> true, book, SqlArray.bigints(ids));
          }
          addTo(guarded, () -> Timely.require(guarded, plan.now()));
        });
    exchange.deferInOnePacket(trip);
  }

  /**
   * @param onceLocked adds what must run once the accounts are locked
   */
  private void addTo(RoundTrip trip, Runnable onceLocked) {
    boolean join = plan.endedTransfers().size() > FEW || plan.accounts().size() > FEW;
    if (join) {
      IndexLookups.joinByHash(trip, true);
    }
    updateAccounts(trip);
    onceLocked.run();
    updateTransfers(trip);
    if (join) {
      IndexLookups.joinByHash(trip, false);
    }
    insertTransfers(trip);
    insertEntries(trip);
  }

  /** A constraint failure here is a failed guard. */
  private SQLException orConflict(SQLException thrown) {
    return GuardFailed.orConflict(
        thrown, "Book %d: another transaction was faster; run again".formatted(book));
  }

  private SQLException orLookAgain(SQLException thrown) {
    return SqlFault.orLookAgain(
        thrown, "Book %d: what was remembered is out of date; run again".formatted(book));
  }

  private void insertTransfers(RoundTrip trip) {
    List<Transfer> fresh = plan.newTransfers();
    if (!fresh.isEmpty()) {
      trip.update(
          INSERT_TRANSFERS,
          now,
          now,
          SqlArray.uuids(column(fresh, transfer -> transfer.id().value())),
          SqlArray.bigints(column(fresh, transfer -> transfer.from().value())),
          SqlArray.bigints(column(fresh, transfer -> transfer.to().value())),
          SqlArray.bigints(column(fresh, transfer -> transfer.money().amount())),
          SqlArray.bigints(column(fresh, Transfer::posted)),
          SqlArray.smallints(column(fresh, transfer -> transfer.state().code())),
          SqlArray.bigints(column(fresh, PlanWriter::expiry)),
          book);
    }
  }

  private void updateTransfers(RoundTrip trip) {
    List<Transfer> ended = plan.endedTransfers();
    if (ended.size() <= FEW) {
      for (Transfer transfer : ended) {
        trip.update(
            UPDATE_TRANSFER,
            transfer.state().code(),
            transfer.posted(),
            now,
            book,
            transfer.id().value());
      }
    } else {
      SqlArray ids = SqlArray.uuids(column(ended, transfer -> transfer.id().value()));
      trip.update(
          UPDATE_TRANSFERS,
          now,
          ids,
          SqlArray.smallints(column(ended, transfer -> transfer.state().code())),
          SqlArray.bigints(column(ended, Transfer::posted)),
          book,
          ids);
    }
  }

  private void insertEntries(RoundTrip trip) {
    List<Entry> entries = plan.entries();
    if (!entries.isEmpty()) {
      trip.update(
          INSERT_ENTRIES,
          now,
          SqlArray.bigints(column(entries, entry -> entry.account().value())),
          SqlArray.bigints(column(entries, Entry::version)),
          SqlArray.uuids(column(entries, entry -> entry.transfer().value())),
          SqlArray.smallints(column(entries, entry -> entry.kind().code())),
          SqlArray.bigints(column(entries, Entry::amount)),
          SqlArray.bigints(column(entries, Entry::balance)),
          SqlArray.bigints(column(entries, Entry::pending)),
          book);
    }
  }

  private void updateAccounts(RoundTrip trip) {
    List<AccountChange> accounts = plan.accounts();
    if (accounts.size() <= FEW) {
      accounts.forEach(change -> updateAccount(trip, change.before(), change.after()));
    } else {
      SqlArray ids = SqlArray.bigints(column(accounts, change -> change.after().id().value()));
      trip.update(
          UPDATE_ACCOUNTS,
          now,
          ids,
          SqlArray.bigints(column(accounts, change -> change.before().version())),
          SqlArray.bigints(column(accounts, change -> change.before().balance())),
          SqlArray.bigints(column(accounts, change -> change.before().pending())),
          SqlArray.bigints(column(accounts, change -> change.after().version())),
          SqlArray.bigints(column(accounts, change -> change.after().balance())),
          SqlArray.bigints(column(accounts, change -> change.after().pending())),
          book,
          ids);
    }
  }

  private void updateAccount(RoundTrip trip, Account before, Account after) {
    trip.update(
        UPDATE_ACCOUNT,
        before.version(),
        before.balance(),
        before.pending(),
        after.version(),
        after.balance(),
        after.pending(),
        now,
        book,
        after.id().value());
  }

  /** Times travel as microseconds since 1970, which the server need not parse. */
  private static @Nullable Long expiry(Transfer transfer) {
    Instant until = transfer.expiresAt().orElse(null);
    return until == null ? null : ChronoUnit.MICROS.between(Instant.EPOCH, until);
  }
}
