package dev.lockstep.server.reconciliation;

import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldRecords;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.LedgerRecords;
import dev.lockstep.ledger.Transfer;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.ledger.TransferState;
import dev.lockstep.server.account.SaleBooks;
import dev.lockstep.server.reconciliation.PurchaseFacts.Book;
import dev.lockstep.server.reconciliation.PurchaseFacts.Goods;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads purchases, then their holds from the hold block and their transfers from the ledger: a few
 * statements per page, each by key. The caller's transaction has one snapshot for all of them.
 */
final class FactsReader {
  private FactsReader() {}

  /** A hold or a transfer, which has its own id in each campaign. */
  private record Key(long campaign, UUID id) {}

  /** Runs a query of purchases; returns what it finds, in its order. */
  static List<PurchaseFacts> read(Connection connection, String sql, Object... parameters)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<PurchaseFacts> rows = trip.query(sql, PurchaseFacts::read, parameters);
    trip.send();
    List<PurchaseFacts> purchases = rows.list();
    Map<Key, Hold> holds = holds(connection, purchases);
    Map<Key, Transfer> payments =
        transfers(connection, purchases, one -> Stream.of(new TransferId(one.id())));
    Map<BookId, Instant> since =
        LedgerRecords.openedAt(connection, SaleBooks.TAKINGS, books(purchases));
    List<PurchaseFacts> facts = new ArrayList<>(purchases.size());
    for (PurchaseFacts one : purchases) {
      Hold hold = holds.get(new Key(one.campaign(), one.hold()));
      facts.add(
          one.with(
              Optional.ofNullable(hold).map(Goods::of),
              book(
                  payments.get(new Key(one.campaign(), one.id())),
                  since.get(new BookId(one.campaign())))));
    }
    return facts;
  }

  /** The amounts that the books show as refunded; purchases without any are missing. */
  static Map<PurchaseFacts, Long> refundsBooked(Connection connection, List<PurchaseFacts> refunded)
      throws SQLException {
    Map<Key, Transfer> booked = transfers(connection, refunded, FactsReader::refundsOf);
    Map<PurchaseFacts, Long> posted = new HashMap<>();
    for (PurchaseFacts one : refunded) {
      refundsOf(one)
          .map(id -> booked.get(new Key(one.campaign(), id.value())))
          .filter(Objects::nonNull)
          .filter(FactsReader::isRefund)
          .map(Transfer::posted)
          .reduce(Long::sum)
          .ifPresent(sum -> posted.put(one, sum));
    }
    return posted;
  }

  /** The ids that its refunds may be posted under; the second is that of older releases. */
  private static Stream<TransferId> refundsOf(PurchaseFacts one) {
    return Stream.concat(
        Stream.of(SaleBooks.refundOf(one.id(), 0), SaleBooks.olderRefundOf(one.id())),
        IntStream.rangeClosed(1, one.partialRefunds().parts())
            .mapToObj(part -> SaleBooks.refundOf(one.id(), part)));
  }

  private static boolean isRefund(Transfer transfer) {
    return transfer.state() == TransferState.POSTED
        && transfer.from().equals(SaleBooks.TAKINGS)
        && transfer.to().equals(SaleBooks.BUYERS);
  }

  private static Book book(@Nullable Transfer payment, @Nullable Instant since) {
    if (payment == null) {
      return new Book(null, false, since);
    }
    boolean rightWay =
        payment.state() == TransferState.POSTED
            && payment.from().equals(SaleBooks.BUYERS)
            && payment.to().equals(SaleBooks.TAKINGS);
    return new Book(payment.posted(), rightWay, since);
  }

  private static Collection<BookId> books(List<PurchaseFacts> purchases) {
    Collection<BookId> books = new HashSet<>();
    purchases.forEach(one -> books.add(new BookId(one.campaign())));
    return books;
  }

  private static Map<Key, Hold> holds(Connection connection, List<PurchaseFacts> purchases)
      throws SQLException {
    Map<ScopeId, Collection<HoldId>> wanted = new HashMap<>();
    // Sets: two purchases may have the same hold.
    purchases.forEach(
        one ->
            wanted
                .computeIfAbsent(new ScopeId(one.campaign()), scope -> new HashSet<>())
                .add(new HoldId(one.hold())));
    Map<Key, Hold> found = new HashMap<>();
    HoldRecords.find(connection, wanted)
        .forEach(hold -> found.put(new Key(hold.scope().value(), hold.id().value()), hold));
    return found;
  }

  private static Map<Key, Transfer> transfers(
      Connection connection,
      List<PurchaseFacts> purchases,
      Function<PurchaseFacts, Stream<TransferId>> ids)
      throws SQLException {
    Map<BookId, Collection<TransferId>> wanted = new HashMap<>();
    for (PurchaseFacts one : purchases) {
      Collection<TransferId> ofBook =
          wanted.computeIfAbsent(new BookId(one.campaign()), book -> new ArrayList<>());
      ids.apply(one).forEach(ofBook::add);
    }
    Map<Key, Transfer> found = new HashMap<>();
    LedgerRecords.transfers(connection, wanted)
        .forEach(one -> found.put(new Key(one.book().value(), one.id().value()), one));
    return found;
  }
}
