package dev.lockstep.bench;

import dev.lockstep.ledger.TransferId;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The ceiling: the rows a batch of transfers leaves behind (transfer, entries, accounts), sent and
 * written in bulk by one writer that asks nothing and decides nothing.
 */
final class BulkTransfers {
  static final int BATCH = 500;

  private static final String TRANSFERS =
      """
      INSERT INTO lockstep.transfer (book, transfer, source, target, amount, posted, state, created_at,
        ended_at)
      SELECT ?, x.transfer, x.source, x.target, 1, 1, 1, now(), now()
      FROM unnest(?, ?, ?) AS x (transfer, source, target)""";
  private static final String ENTRIES =
      """
      INSERT INTO lockstep.entry (book, account, version, transfer, kind, amount, balance, pending, at)
      SELECT ?, x.account, x.version, x.transfer, 0, x.amount, x.balance, 0, now()
      FROM unnest(?, ?, ?, ?, ?) AS x (account, version, transfer, amount, balance)""";
  private static final String ACCOUNTS =
      """
      UPDATE lockstep.account a SET balance = x.balance, version = x.version
      FROM unnest(?, ?, ?) AS x (account, balance, version)
      WHERE a.book = ? AND a.account = x.account AND a.account = ANY (?)""";

  private final Transactor transactor;
  private final long book;
  private final Pairs pairs;
  private final Map<Long, long[]> accounts = new TreeMap<>();
  private long written;

  BulkTransfers(Transactor transactor, long book, Pairs pairs) {
    this.transactor = transactor;
    this.book = book;
    this.pairs = pairs;
  }

  void writeBatch() {
    List<UUID> transfers = new ArrayList<>(BATCH);
    List<Long> sources = new ArrayList<>(BATCH);
    List<Long> targets = new ArrayList<>(BATCH);
    Entries entries = new Entries();
    Map<Long, long[]> changed = new TreeMap<>();
    for (int i = 0; i < BATCH; i++) {
      Pairs.Pair pair = pairs.of(++written);
      UUID transfer = TransferId.next().value();
      transfers.add(transfer);
      sources.add(pair.from());
      targets.add(pair.to());
      changed.put(pair.from(), entries.add(pair.from(), transfer, -1));
      changed.put(pair.to(), entries.add(pair.to(), transfer, 1));
    }
    transactor.run(connection -> write(connection, transfers, sources, targets, entries, changed));
  }

  /** Columns of entries, and the accounts as they leave them. */
  private final class Entries {
    final List<Long> account = new ArrayList<>(2 * BATCH);
    final List<Long> version = new ArrayList<>(2 * BATCH);
    final List<UUID> transfer = new ArrayList<>(2 * BATCH);
    final List<Long> amount = new ArrayList<>(2 * BATCH);
    final List<Long> balance = new ArrayList<>(2 * BATCH);

    long[] add(long id, UUID by, long change) {
      long[] state = accounts.computeIfAbsent(id, none -> new long[2]);
      state[0] += change;
      state[1]++;
      account.add(id);
      version.add(state[1]);
      transfer.add(by);
      amount.add(change);
      balance.add(state[0]);
      return state;
    }
  }

  private void write(
      Connection connection,
      List<UUID> transfers,
      List<Long> sources,
      List<Long> targets,
      Entries entries,
      Map<Long, long[]> changed)
      throws SQLException {
    SqlArray ids = SqlArray.bigints(changed.keySet());
    RoundTrip trip = new RoundTrip(connection);
    trip.update(
        TRANSFERS,
        book,
        SqlArray.uuids(transfers),
        SqlArray.bigints(sources),
        SqlArray.bigints(targets));
    trip.update(
        ENTRIES,
        book,
        SqlArray.bigints(entries.account),
        SqlArray.bigints(entries.version),
        SqlArray.uuids(entries.transfer),
        SqlArray.bigints(entries.amount),
        SqlArray.bigints(entries.balance));
    trip.update(
        ACCOUNTS,
        ids,
        SqlArray.bigints(changed.values().stream().map(state -> state[0]).toList()),
        SqlArray.bigints(changed.values().stream().map(state -> state[1]).toList()),
        book,
        ids);
    trip.send();
  }
}
