package dev.lockstep.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.fault.DatabaseUnavailable;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.fault.StatementFailed;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.testkit.ReplicatedServer;
import dev.lockstep.tx.Isolation;
import dev.lockstep.tx.RetryPolicy;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Tampered;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxAttempt;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Connections that lead to a standby, as after a failover to the wrong place or before one to the
 * right: whatever writes is tried again on another connection, and no pool gets those back.
 */
class StandbyTest {
  private static final String INSERT = "INSERT INTO item VALUES (1)";

  private static ReplicatedServer servers;

  private final List<TxAttempt> attempts = new CopyOnWriteArrayList<>();

  @BeforeAll
  static void start() throws SQLException {
    servers = ReplicatedServer.start(false);
    try (Connection primary = DriverManager.getConnection(servers.primaryUrl())) {
      Sql.execute(primary, "CREATE TABLE item (n int CHECK (n > 0))");
    }
  }

  @AfterAll
  static void stop() {
    servers.close();
  }

  @ParameterizedTest
  @EnumSource
  void whatWritesThereIsToldThatTheDatabaseIsAwayNotThatItsStatementIsWrong(Isolation isolation) {
    TxOptions few =
        TxOptions.DEFAULT
            .withIsolation(isolation)
            .withRetry(new RetryPolicy(3, Duration.ofMillis(1), Duration.ofMillis(1)));
    Transactor transactor = new Transactor(at(servers.standbyUrl()), few, attempts::add);

    assertThatThrownBy(() -> transactor.run(few, c -> Sql.execute(c, INSERT)))
        .isInstanceOf(DatabaseUnavailable.class);
    assertThatThrownBy(
            () -> transactor.call(few, c -> Sql.execute(c, INSERT), c -> Optional.empty()))
        .isInstanceOf(DatabaseUnavailable.class);
    assertThatThrownBy(
            () ->
                transactor.exchange(
                    few,
                    exchange -> {
                      RoundTrip trip = exchange.trip();
                      trip.update(INSERT);
                      exchange.defer(trip);
                      return AttemptResult.conditional(List.of("inserted"));
                    },
                    c -> Optional.empty()))
        .isInstanceOf(DatabaseUnavailable.class);
    assertThat(attempts).hasSize(9).allMatch(attempt -> attempt.fault().isPresent());
  }

  @Test
  void readingThereWorksAndWritingInATransactionMarkedReadOnlyIsStillAMistake() {
    for (String url : List.of(servers.standbyUrl(), servers.primaryUrl())) {
      attempts.clear();
      Transactor transactor = new Transactor(at(url), TxOptions.DEFAULT, attempts::add);
      TxOptions readOnly = TxOptions.DEFAULT.asReadOnly();

      assertThat(
              transactor.<Long>call(
                  readOnly, c -> Sql.query(c, "SELECT count(*) FROM item WHERE n < 0")))
          .isZero();
      assertThatThrownBy(() -> transactor.run(readOnly, c -> Sql.execute(c, INSERT)))
          .isInstanceOf(StatementFailed.class);
      assertThat(attempts).hasSize(2);
      assertThatThrownBy(
              () ->
                  transactor.run(
                      readOnly,
                      c -> transactor.run(readOnly, joined -> Sql.execute(joined, INSERT))))
          .isInstanceOf(StatementFailed.class);
      assertThat(attempts).hasSize(3);
    }
  }

  @Test
  void writingOnAConnectionThatTheCallerMadeReadOnlyIsAMistakeToo() throws SQLException {
    Transactor transactor = new Transactor(at(servers.primaryUrl()));
    try (Connection theirs = DriverManager.getConnection(servers.primaryUrl())) {
      theirs.setReadOnly(true);
      theirs.setAutoCommit(false);
      assertThatThrownBy(() -> transactor.runJoined(theirs, c -> Sql.execute(c, INSERT)))
          .isInstanceOf(StatementFailed.class);
      theirs.rollback();
    }
  }

  @Test
  void aFeatureThatIsNotSupportedIsNotTakenForAStandby() {
    Transactor transactor =
        new Transactor(at(servers.primaryUrl()), TxOptions.DEFAULT, attempts::add);
    String unsupported = "SELECT 1 FROM item GROUP BY n FOR UPDATE";

    assertThatThrownBy(() -> transactor.run(c -> Sql.execute(c, unsupported)))
        .isInstanceOf(StatementFailed.class);
    assertThatThrownBy(
            () ->
                transactor.exchange(
                    TxOptions.DEFAULT,
                    exchange -> {
                      RoundTrip trip = exchange.trip();
                      trip.query(unsupported, row -> row.getInt(1));
                      trip.send();
                      return AttemptResult.conditional(List.of("read"));
                    },
                    c -> Optional.empty()))
        .isInstanceOf(StatementFailed.class);
    assertThat(attempts).as("the second alone, and apart").hasSize(3);
  }

  /** All that a pool has lead to the standby, while new ones would lead to the primary. */
  @Test
  void aPoolFullOfConnectionsToItIsEmptiedByUse() throws Exception {
    AtomicReference<String> url = new AtomicReference<>(servers.standbyUrl());
    HikariConfig config = new HikariConfig();
    config.setDataSource(
        Tampered.replacing(at(servers.primaryUrl()), unused -> connect(url.get())));
    config.setMaximumPoolSize(5);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      List<Connection> all = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        all.add(pool.getConnection());
      }
      for (Connection connection : all) {
        connection.close();
      }
      url.set(servers.primaryUrl());

      new Transactor(pool, TxOptions.DEFAULT, attempts::add).run(c -> Sql.execute(c, INSERT));

      assertThat(attempts).hasSizeBetween(2, 6);
      assertThat(attempts.get(0).fault()).contains(SqlFault.READ_ONLY);
    }
  }

  /** It has not replayed what the primary committed, and would say that nothing happened. */
  @Test
  void aStandbyThatLagsIsNotAskedWhatBecameOfACommit() throws SQLException {
    AtomicInteger handedOut = new AtomicInteger();
    AtomicBoolean lost = new AtomicBoolean();
    DataSource losing =
        Tampered.connections(
            at(servers.primaryUrl()),
            (method, call) -> {
              Object result = call.proceed();
              if (method.equals("commit") && lost.compareAndSet(false, true)) {
                throw new SQLException("lost", "08006");
              }
              return result;
            });
    DataSource sometimesTheStandby =
        Tampered.replacing(
            losing,
            real -> handedOut.getAndIncrement() == 1 ? connect(servers.standbyUrl()) : real);
    String count = "SELECT count(*) FROM item WHERE n = 77";
    try (Connection standby = DriverManager.getConnection(servers.standbyUrl())) {
      Sql.execute(standby, "SELECT pg_wal_replay_pause()");

      String answer =
          new Transactor(sometimesTheStandby)
              .call(
                  TxOptions.DEFAULT,
                  c -> {
                    Sql.execute(c, "INSERT INTO item VALUES (77)");
                    return "inserted";
                  },
                  c -> Sql.query(c, count) == 0 ? Optional.empty() : Optional.of("found"));

      assertThat(answer).isEqualTo("found");
      assertThat(handedOut).as("primary, standby, primary").hasValue(3);
      Sql.execute(standby, "SELECT pg_wal_replay_resume()");
    }
    try (Connection primary = DriverManager.getConnection(servers.primaryUrl())) {
      assertThat(Sql.query(primary, count)).isEqualTo(1);
    }
  }

  private static DataSource at(String url) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setURL(url);
    return source;
  }

  private static Connection connect(String url) {
    try {
      return DriverManager.getConnection(url);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
