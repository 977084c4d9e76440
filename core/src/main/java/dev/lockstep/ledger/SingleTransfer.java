package dev.lockstep.ledger;

import dev.lockstep.combine.CommandDecision;
import dev.lockstep.combine.Timely;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;

/**
 * A new transfer that is alone in its batch, the usual case without concurrent callers: one
 * statement, which is its own transaction. It assumes that the transfer succeeds. Otherwise the
 * statement fails, and the batch is decided on locked rows, which give the reason.
 *
 * <p>It needs to know nothing about the accounts, so nodes that write to one book do not invalidate
 * each other.
 */
final class SingleTransfer {
  // Defined in V046__ledger_move_fits.sql: locks both accounts ascending, and fails on anything
  // unexpected, such as a late time.
  private static final String MOVE = "SELECT lockstep.move(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

  private static final long TOLERANCE_MICROS = Timely.TOLERANCE.toNanos() / 1_000;

  // The same transfer from another node has another time; with the same time the two are
  // indistinguishable.
  private static final String MOVED =
      "SELECT 1 FROM lockstep.transfer WHERE book = ? AND transfer = ? AND created_at = ?";

  private SingleTransfer() {}

  /** The plan as if the transfer succeeds. */
  static Plan presume(Move move, Instant now) {
    Transfer transfer =
        Transfer.moved(move.book(), move.id(), move.from(), move.to(), move.money(), now);
    return new Plan(
        now,
        List.of(transfer),
        List.of(),
        List.of(),
        List.of(),
        List.of(CommandDecision.certain(new TransferDone(transfer, false))));
  }

  static void write(Exchange exchange, Transfer transfer, TxOptions options) {
    exchange
        .loneStatement()
        .guarded(
            thrown -> orLookAgain(transfer, thrown),
            trip ->
                trip.query(
                    MOVE,
                    row -> true,
                    transfer.book().value(),
                    transfer.id().value(),
                    transfer.from().value(),
                    transfer.to().value(),
                    transfer.money().amount(),
                    transfer.money().currency(),
                    ChronoUnit.MICROS.between(Instant.EPOCH, transfer.createdAt()),
                    TOLERANCE_MICROS,
                    String.valueOf(options.lockTimeout().toMillis()),
                    String.valueOf(options.effectiveTransactionTimeout().toMillis())));
  }

  /**
   * Any refusal by the server leads to a read, even in a session in which the statement could never
   * succeed.
   */
  private static SQLException orLookAgain(Transfer transfer, SQLException thrown) {
    return SqlFault.orLookAgain(
        thrown, "Transfer %s cannot be written unread; run again".formatted(transfer.id()));
  }

  static boolean happened(Connection connection, Transfer transfer) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Boolean> found =
        trip.query(
            MOVED,
            row -> true,
            transfer.book().value(),
            transfer.id().value(),
            transfer.createdAt().atOffset(ZoneOffset.UTC));
    trip.send();
    return !found.list().isEmpty();
  }
}
