package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.CallResult;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.testkit.TestDatabase;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The driver's {@code defaultRowFetchSize} stops a query after so many rows, and with it the locks
 * that it takes. Statements of ours run to their end, whatever the connection's default.
 */
class FetchSizeTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final String LOCK_THREE =
      "SELECT n FROM (SELECT n, pg_advisory_xact_lock(n) FROM generate_series(1, 3) n) locked";
  private static final String HELD_BY_ME =
      "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()";

  private final Transactor transactor = new Transactor(oneRowAtATime());

  @BeforeEach
  void anEmptyTable() {
    database.execute("DROP TABLE IF EXISTS noted; CREATE TABLE noted (n int)");
  }

  @Test
  void aTripHasEveryLockOfAQueryBeforeTheNextStatementBegins() {
    transactor.run(
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          Rows<Integer> locked = trip.query(LOCK_THREE, row -> row.getInt(1));
          Rows<Integer> held = trip.query(HELD_BY_ME, row -> row.getInt(1));
          trip.send();
          assertThat(locked.list()).containsExactly(1, 2, 3);
          assertThat(held.list()).containsExactly(3);
        });
  }

  @Test
  void locksByNameAreAllTaken() {
    transactor.run(
        connection -> {
          AdvisoryLocks.lockAll(connection, List.of("a", "b", "c"));
          assertThat(Sql.query(connection, HELD_BY_ME)).isEqualTo(3);
        });
  }

  @Test
  void rowsThatCameWithCommitAreAllRead() {
    List<CallResult<List<Integer>>> told =
        transactor.exchange(
            TxOptions.DEFAULT,
            exchange -> {
              RoundTrip trip = exchange.trip();
              trip.update("INSERT INTO noted VALUES (1), (2), (3)");
              Rows<Integer> rows = trip.query("SELECT n FROM noted", row -> row.getInt(1));
              exchange.defer(trip);
              return List.of(new AttemptResult.Final<>(rows.list()));
            },
            connection -> Optional.empty());

    assertThat(told).containsExactly(new CallResult.Answer<>(List.of(1, 2, 3)));
    assertThat(database.queryLong("SELECT count(*) FROM noted")).isEqualTo(3);
  }

  private static PGSimpleDataSource oneRowAtATime() {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(database.url());
    source.setUser(database.user());
    source.setPassword(database.password());
    source.setDefaultRowFetchSize(1);
    return source;
  }
}
