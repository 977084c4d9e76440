package dev.lockstep.ledger;

import dev.lockstep.combine.Rounds;
import dev.lockstep.combine.Slices;
import dev.lockstep.fault.TransientFault;
import dev.lockstep.ledger.LedgerViolation.LedgerInvariant;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StoredEnum;
import dev.lockstep.tx.Isolation;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the ledger's tables in REPEATABLE READ snapshots, so that a transfer under way never
 * looks like an error. It locks no account. For books without a finding it writes marks that say
 * how far their entries were checked.
 *
 * <p>Accounts and pending transfers are compared for all books at once. Entries are read a few
 * thousand at a time: several whole books per snapshot, or a large book in slices ({@link
 * LargeBook}). After each snapshot the check pauses for as long as it took, so it costs other work
 * at most half a core.
 */
final class LedgerCheck {
  private static final Logger log = LoggerFactory.getLogger(LedgerCheck.class);
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final int MAX_FOUND = 1_000;

  /** A snapshot takes no further book once it has this many entries. */
  private static final int PORTION = 5_000;

  // An account changed by hand differs from its mark even if its version does not.
  private static final String CHANGED =
      """
      FROM (VALUES (?::boolean)) AS f (everything)
      CROSS JOIN lockstep.account a
      LEFT JOIN lockstep.ledger_mark m ON m.book = a.book AND m.account = a.account
      WHERE (f.everything
        OR (a.version, a.balance, a.pending) IS DISTINCT FROM (m.version, m.balance, m.pending))
      """;

  private static final String CHANGED_BOOKS =
      """
      SELECT a.book, sum(a.version - CASE WHEN f.everything THEN 0 ELSE coalesce(m.version, 0) END)
      %s GROUP BY a.book ORDER BY a.book"""
          .formatted(CHANGED);

  // One row per finding; the codes are indexes in CODES.
  private static final String LOOK_AT_ACCOUNTS =
      StoredEnum.sql(
          """
      (SELECT 0, book, NULL::bigint,
         format('The balances in %s add up to %s instead of 0.', currency, sum(balance))
       FROM lockstep.account GROUP BY book, currency HAVING sum(balance) <> 0 LIMIT ?)
      UNION ALL
      (SELECT 4, coalesce(a.book, t.book), coalesce(a.account, t.source),
         format('The account has %s reserved; its pending transfers add up to %s.',
           coalesce(a.pending, 0), coalesce(t.amount, 0))
       FROM (SELECT book, account, pending FROM lockstep.account WHERE pending > 0) a
       FULL JOIN (SELECT book, source, sum(amount) AS amount FROM lockstep.transfer
                  WHERE state = {TransferState.PENDING} GROUP BY book, source) t
         ON t.book = a.book AND t.source = a.account
       WHERE coalesce(a.pending, 0) <> coalesce(t.amount, 0) LIMIT ?)
      UNION ALL
      (SELECT 5, book, account,
         format('Balance %s less %s reserved is below the floor of %s.', balance, pending, floor)
       FROM lockstep.account WHERE floor IS NOT NULL AND balance - pending < floor LIMIT ?)""",
          TransferState.class);

  private static final String CHANGED_OF_BOOKS =
      """
      changed AS MATERIALIZED (
        SELECT a.book, a.account, a.balance, a.pending, a.version,
          CASE WHEN f.everything THEN 0 ELSE coalesce(m.version, 0) END AS from_version,
          CASE WHEN f.everything THEN 0 ELSE coalesce(m.balance, 0) END AS from_balance,
          CASE WHEN f.everything THEN 0 ELSE coalesce(m.pending, 0) END AS from_pending
        %s AND a.book = ANY (?))"""
          .formatted(CHANGED);

  // The accounts of a large book are marked in several snapshots. A transfer between two of them
  // can be before one account's mark and after the other's: then its one new entry must match it.
  // A look at everything sees both entries. The last two rows count what was checked.
  private static final String LOOK_AT_ENTRIES =
      StoredEnum.sql(
          """
      WITH %s,
      chain AS MATERIALIZED (
        SELECT e.book, e.account, e.version, e.transfer, e.amount, e.balance, e.pending,
          lag(e.version, 1, c.from_version) OVER w AS version_before,
          lag(e.balance, 1, c.from_balance) OVER w AS balance_before
        FROM changed c
        JOIN lockstep.entry e
          ON e.book = c.book AND e.account = c.account AND e.version > c.from_version
        WINDOW w AS (PARTITION BY e.book, e.account ORDER BY e.version)),
      newest AS (
        SELECT DISTINCT ON (book, account) book, account, version, balance, pending
        FROM chain ORDER BY book, account, version DESC),
      unbalanced AS (
        SELECT book, transfer, sum(amount) AS total, count(*) FILTER (WHERE amount <> 0) AS moves,
          min(account) FILTER (WHERE amount <> 0) AS account
        FROM chain GROUP BY book, transfer HAVING sum(amount) <> 0)
      (SELECT 1, c.book, c.account,
         format('The account has %%s (%%s reserved) at version %%s; its entries end with %%s (%%s) at %%s.',
           c.balance, c.pending, c.version, coalesce(n.balance, c.from_balance),
           coalesce(n.pending, c.from_pending), coalesce(n.version, c.from_version))
       FROM changed c LEFT JOIN newest n ON n.book = c.book AND n.account = c.account
       WHERE (c.balance, c.pending, c.version) IS DISTINCT FROM (
         coalesce(n.balance, c.from_balance), coalesce(n.pending, c.from_pending),
         coalesce(n.version, c.from_version)) LIMIT ?)
      UNION ALL
      (SELECT 2, book, account,
         format('Entry %%s has balance %%s after amount %%s; the entry before it is %%s with balance %%s.',
           version, balance, amount, version_before, balance_before)
       FROM chain WHERE version <> version_before + 1 OR balance <> balance_before + amount LIMIT ?)
      UNION ALL
      (SELECT 3, u.book, NULL,
         format('The entries of transfer %%s add up to %%s instead of 0.', u.transfer, u.total)
       FROM unbalanced u
       WHERE ? OR NOT EXISTS (
         SELECT FROM lockstep.transfer t
         JOIN lockstep.ledger_mark m ON m.book = t.book
           AND m.account = CASE u.account WHEN t.source THEN t.target ELSE t.source END
         WHERE t.book = u.book AND t.transfer = u.transfer AND t.state = {TransferState.POSTED}
           AND u.moves = 1
           AND u.total = CASE u.account WHEN t.source THEN -t.posted WHEN t.target THEN t.posted END)
       LIMIT ?)
      UNION ALL SELECT 6, count(*), NULL, '' FROM changed
      UNION ALL SELECT 7, count(*), NULL, '' FROM chain"""
              .formatted(CHANGED_OF_BOOKS),
          TransferState.class);

  private static final List<LedgerInvariant> CODES =
      List.of(
          LedgerInvariant.TRIAL_BALANCE,
          LedgerInvariant.ACCOUNT_ENTRIES,
          LedgerInvariant.ENTRY_CHAIN,
          LedgerInvariant.DOUBLE_ENTRY,
          LedgerInvariant.PENDING,
          LedgerInvariant.FLOOR);

  // Two nodes may have checked at different times: the later mark stays.
  private static final String SAVE_MARKS =
      """
      WITH %s
      INSERT INTO lockstep.ledger_mark AS m (book, account, version, balance, pending)
      SELECT book, account, version, balance, pending FROM changed ORDER BY book, account
      ON CONFLICT (book, account) DO UPDATE
      SET version = excluded.version, balance = excluded.balance, pending = excluded.pending
      WHERE m.version <= excluded.version"""
          .formatted(CHANGED_OF_BOOKS);

  private static final TxOptions SNAPSHOT =
      TxOptions.DEFAULT
          .withLabel("ledger check")
          .withIsolation(Isolation.REPEATABLE_READ)
          .withStatementTimeout(PATIENCE)
          .withDeadline(PATIENCE);

  private final Transactor transactor;
  private final TxOptions snapshot;
  private final boolean everything;
  private final Consumer<LedgerReport> progress;
  private final List<LedgerViolation> violations = new ArrayList<>();
  private final long[] counted = new long[2];
  private Slices slices;

  private LedgerCheck(Transactor transactor, boolean everything, Consumer<LedgerReport> progress) {
    this.transactor = transactor;
    this.snapshot = SNAPSHOT.withLockTimeout(transactor.defaults().lockTimeout());
    this.everything = everything;
    this.progress = progress;
    this.slices = new Slices(transactor, snapshot, PORTION, () -> {});
  }

  /**
   * @param everything from each account's first entry; otherwise only what changed since the last
   *     check without a finding
   * @param progress receives what was checked and found so far, after each slice
   */
  static LedgerReport check(
      Transactor transactor, boolean everything, Consumer<LedgerReport> progress) {
    LedgerReport report = new LedgerCheck(transactor, everything, progress).check();
    for (LedgerViolation violation : report.violations()) {
      log.error(
          "Invariant broken: {} of book {}, account {}: {}",
          violation.check(),
          violation.book().value(),
          violation.account().map(account -> String.valueOf(account.value())).orElse("-"),
          violation.detail());
    }
    return report;
  }

  /** A finding about a book; with a code beyond CODES, a count instead of the book. */
  private record Found(int code, long book, Optional<AccountId> account, String detail) {
    boolean isFault() {
      return code < CODES.size();
    }
  }

  /** A book and the number of its entries to check. */
  private record ChangedBook(long book, long entries) {
    /** True if one snapshot is not enough. */
    boolean isLarge() {
      return entries > PORTION;
    }
  }

  private record Begun(Instant at, List<ChangedBook> books, List<Found> found) {}

  private LedgerReport check() {
    Begun begun = transactor.call(snapshot.asReadOnly(), this::begin);
    note(begun.found());
    slices = new Slices(transactor, snapshot, PORTION, () -> progress.accept(report(begun.at())));
    List<List<Long>> portions = portions(begun.books());
    Set<Long> large = new HashSet<>();
    for (ChangedBook book : begun.books()) {
      if (book.isLarge()) {
        large.add(book.book());
        portions.add(List.of(book.book()));
      }
    }
    Rounds<List<Long>> rounds = new Rounds<>();
    rounds.each(portions, books -> large.contains(books.get(0)) ? lookAtLarge(books) : look(books));
    return report(begun.at());
  }

  private LedgerReport report(Instant at) {
    return new LedgerReport(at, counted[0], counted[1], violations);
  }

  private int lookAtLarge(List<Long> book) {
    violations.addAll(
        new LargeBook(
                slices,
                book.get(0),
                everything,
                accounts -> counted[0] += accounts,
                entries -> counted[1] += entries)
            .violations());
    return 1;
  }

  /**
   * Checks books in one snapshot. If that fails, checks the halves, so that one bad book does not
   * stop the others.
   */
  private int look(List<Long> books) {
    try {
      note(slices.whole(connection -> look(connection, books)));
    } catch (TransientFault e) {
      int half = books.size() / 2;
      if (half == 0 || Thread.currentThread().isInterrupted()) {
        throw e;
      }
      new Rounds<List<Long>>()
          .each(List.of(books.subList(0, half), books.subList(half, books.size())), this::look);
    }
    return books.size();
  }

  private Begun begin(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    // Few transfers are pending, and they have an index; a planner without statistics would scan
    // the table.
    trip.update("SET LOCAL enable_seqscan = off");
    Rows<Instant> now = trip.now();
    Rows<ChangedBook> books =
        trip.query(
            CHANGED_BOOKS, row -> new ChangedBook(row.getLong(1), row.getLong(2)), everything);
    Rows<Found> found =
        trip.query(LOOK_AT_ACCOUNTS, LedgerCheck::found, MAX_FOUND, MAX_FOUND, MAX_FOUND);
    trip.send();
    return new Begun(now.list().get(0), books.list(), found.list());
  }

  private static List<List<Long>> portions(List<ChangedBook> books) {
    List<List<Long>> portions = new ArrayList<>();
    long entries = PORTION;
    for (ChangedBook book : books) {
      if (book.isLarge()) {
        continue;
      }
      if (entries >= PORTION) {
        portions.add(new ArrayList<>());
        entries = 0;
      }
      portions.get(portions.size() - 1).add(book.book());
      // A book without entries takes some time, too.
      entries += Math.max(1, book.entries());
    }
    return portions;
  }

  /** Checks the books and, in the same snapshot, marks those without a finding. */
  private List<Found> look(Connection connection, List<Long> books) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Found> found =
        trip.query(
            LOOK_AT_ENTRIES,
            LedgerCheck::found,
            everything,
            SqlArray.bigints(books),
            MAX_FOUND,
            MAX_FOUND,
            everything,
            MAX_FOUND);
    trip.send();
    Set<Long> broken = new HashSet<>();
    violations.forEach(violation -> broken.add(violation.book().value()));
    found.list().stream().filter(Found::isFault).forEach(fault -> broken.add(fault.book()));
    List<Long> sound = books.stream().filter(book -> !broken.contains(book)).toList();
    RoundTrip marks = new RoundTrip(connection);
    marks.update(SAVE_MARKS, everything, SqlArray.bigints(sound));
    marks.send();
    return found.list();
  }

  private void note(List<Found> rows) {
    for (Found found : rows) {
      if (found.isFault()) {
        violations.add(
            new LedgerViolation(
                CODES.get(found.code()),
                new BookId(found.book()),
                found.account(),
                found.detail()));
      } else {
        counted[found.code() - CODES.size()] += found.book();
      }
    }
  }

  private static Found found(ResultSet row) throws SQLException {
    long account = row.getLong(3);
    Optional<AccountId> of = row.wasNull() ? Optional.empty() : Optional.of(new AccountId(account));
    return new Found(row.getInt(1), row.getLong(2), of, row.getString(4));
  }
}
