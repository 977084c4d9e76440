package dev.lockstep.ledger;

import dev.lockstep.combine.Timely;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * Questions about an account at an instant that has passed: once answered, no later commit changes
 * the answer.
 *
 * <p>The account is locked for the reading. Whoever has changed it has committed by then, and
 * whoever changes it later dates the change by the database's clock after this, at most {@link
 * Timely#TOLERANCE} back. An instant as recent as that is therefore waited for. One that is still
 * to come is answered as of now, and stays open.
 */
record AsOf(BookId book, AccountId account, List<Instant> instants) {
  // As a writer would, not FOR SHARE: readers that share a lock overtake a waiting writer,
  // again and again. Here all wait in line, for one round trip each.
  private static final String LOCK =
      "SELECT FROM lockstep.account WHERE book = ? AND account = ? FOR NO KEY UPDATE";

  // By a statement of its own: within that one it would be read before the lock is granted.
  private static final String CLOCK = "SELECT clock_timestamp()";

  <T> T read(Transactor transactor, TxWork<T> work) {
    while (true) {
      Looked<T> looked = transactor.call(connection -> look(connection, work));
      if (looked.answer().isPresent()) {
        return looked.answer().get();
      }
      LockSupport.parkNanos(this, looked.openFor().toNanos());
    }
  }

  /** An answer, or how long to wait for one. */
  private record Looked<T>(Optional<T> answer, Duration openFor) {}

  private <T> Looked<T> look(Connection connection, TxWork<T> work) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.query(LOCK, row -> true, book.value(), account.value());
    Rows<Instant> clock = trip.query(CLOCK, row -> LedgerRows.instant(row, 1));
    trip.send();
    Duration openFor = openFor(clock.list().get(0));
    return openFor.isZero()
        ? new Looked<>(Optional.of(work.run(connection)), openFor)
        : new Looked<>(Optional.empty(), openFor);
  }

  /** How long it is until none of the instants can be written to; zero: that is so now. */
  private Duration openFor(Instant now) {
    Duration longest = Duration.ZERO;
    for (Instant instant : instants) {
      if (!instant.isAfter(now)) {
        // From the next microsecond on, which is as fine as the database counts.
        Instant closedAt = instant.plus(Timely.TOLERANCE).plusNanos(1_000);
        Duration open = Duration.between(now, closedAt);
        longest = open.compareTo(longest) > 0 ? open : longest;
      }
    }
    return longest;
  }
}
