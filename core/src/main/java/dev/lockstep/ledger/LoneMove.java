package dev.lockstep.ledger;

import dev.lockstep.combine.Timely;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOutcome.Done;
import dev.lockstep.ledger.Plan.Answer;
import dev.lockstep.tx.Exchange;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.SqlFault;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;

/**
 * A new transfer that is alone in its batch, as it mostly is while nobody else is there: one
 * statement, which is a transaction by itself. It presumes that nothing is to be said against the
 * transfer. Where something is, the statement fails, and the batch is decided on locked rows, which
 * tell what it was.
 *
 * <p>Nothing has to be known of the accounts, and nodes that write to one book do not get into each
 * other's way.
 */
final class LoneMove {
  // In V046__ledger_move_fits.sql: locks both accounts ascending, and gives up at whatever it
  // does not expect, a late time included.
  private static final String MOVE = "SELECT lockstep.move(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

  private static final long TOLERANCE_MICROS = Timely.TOLERANCE.toNanos() / 1_000;

  // A twin of another node has another time; of the same time, there is nothing to tell them apart.
  private static final String MOVED =
      "SELECT 1 FROM lockstep.transfer WHERE book = ? AND transfer = ? AND created_at = ?";

  private LoneMove() {}

  /** What will have happened, unless it fails. */
  static Plan presume(Move move, Instant now) {
    Transfer transfer =
        Transfer.moved(move.book(), move.id(), move.from(), move.to(), move.money(), now);
    return new Plan(
        now,
        List.of(transfer),
        List.of(),
        List.of(),
        List.of(),
        List.of(Answer.certain(new Done(transfer, false))));
  }

  static void write(Exchange exchange, Transfer transfer, TxOptions options) {
    exchange
        .alone()
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

  /** Whatever the server refuses about it, also in a session where it could never succeed. */
  private static SQLException orLookAgain(Transfer transfer, SQLException thrown) {
    return SqlFault.orLookAgain(thrown, "Transfer %s must be read".formatted(transfer.id()));
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
