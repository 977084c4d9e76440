package dev.lockstep.ledger;

import dev.lockstep.combine.Timely;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
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
 * Answers questions about an account at a past instant; no later commit changes the answer.
 *
 * <p>The account is locked while it is read. A transaction that changed it before has committed by
 * then. A transaction that changes it later is dated by the database's clock, at most {@link
 * Timely#TOLERANCE} back. So the reader waits until the instant is older than that. A future
 * instant is answered as of now, and that answer is not final.
 */
record AsOf(BookId book, AccountId account, List<Instant> instants) {
  // A writer's lock, not FOR SHARE: readers that share a lock overtake a waiting writer again and
  // again. This way all of them queue, for one round trip each.
  private static final String LOCK =
      "SELECT FROM lockstep.account WHERE book = ? AND account = ? FOR NO KEY UPDATE";

  // A separate statement: within the locking one, the clock would be read before the lock is
  // granted.
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

  /** Returns how long one of the instants can still be written to; zero if none can. */
  private Duration openFor(Instant now) {
    Duration longest = Duration.ZERO;
    for (Instant instant : instants) {
      if (!instant.isAfter(now)) {
        // Closed from the next microsecond on, the database's resolution.
        Instant closedAt = instant.plus(Timely.TOLERANCE).plusNanos(1_000);
        Duration open = Duration.between(now, closedAt);
        longest = open.compareTo(longest) > 0 ? open : longest;
      }
    }
    return longest;
  }
}
