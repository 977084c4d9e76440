package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.StatementFailed;
import dev.lockstep.sql.HintListener;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Some frameworks have a DataSource that hands out the connection of the transaction the thread is
 * in, wrapped so that closing it does nothing. What somebody else began is theirs to commit.
 */
class ForeignTransactionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private final List<String> calls = new CopyOnWriteArrayList<>();
  private Connection theirs;

  @BeforeEach
  void somebodyBeginsATransaction() throws SQLException {
    database.execute("DROP TABLE IF EXISTS effect; CREATE TABLE effect (whose text)");
    theirs = database.connection();
    theirs.setAutoCommit(false);
    Sql.execute(theirs, "INSERT INTO effect VALUES ('theirs')");
  }

  @AfterEach
  void theyEndIt() throws SQLException {
    theirs.rollback();
    theirs.setAutoCommit(true);
    theirs.close();
  }

  @Test
  void itIsNeitherCommittedNorRolledBackNorWrittenTo() throws SQLException {
    Transactor transactor = new Transactor(handingOut(theirs));

    assertThatIllegalStateException()
        .isThrownBy(() -> transactor.run(ForeignTransactionTest::insertOurs))
        .withMessageContaining("join(connection")
        .withMessageContaining("DataSource");

    assertThat(calls).doesNotContain("prepareStatement", "commit", "rollback", "setAutoCommit");
    assertThat(effects()).isEmpty();
    theirs.commit();
    assertThat(effects()).containsExactly("theirs");
  }

  @Test
  void itMayStillBeRolledBackByWhoBeganIt() throws SQLException {
    Transactor transactor = new Transactor(handingOut(theirs));

    assertThatIllegalStateException().isThrownBy(() -> transactor.call(c -> "nothing"));
    assertThatIllegalStateException()
        .isThrownBy(
            () -> transactor.call(TxOptions.DEFAULT, c -> "nothing", c -> Optional.of("found")));

    theirs.rollback();
    assertThat(effects()).isEmpty();
  }

  @Test
  void oneThatHasFailedIsRefusedAsWell() {
    assertThatThrownBy(() -> Sql.execute(theirs, "SELECT 1/0")).isInstanceOf(SQLException.class);

    assertThatIllegalStateException()
        .isThrownBy(() -> new Transactor(handingOut(theirs)).call(c -> "nothing"));
  }

  @Test
  void oneBegunByAStatementIsRefusedThoughTheConnectionIsInAutoCommitMode() throws SQLException {
    try (Connection manual = database.connection()) {
      Sql.execute(manual, "BEGIN");
      Sql.execute(manual, "INSERT INTO effect VALUES ('theirs')");

      assertThatIllegalStateException()
          .isThrownBy(() -> new Transactor(handingOut(manual)).run(c -> insertOurs(c)));

      Sql.execute(manual, "ROLLBACK");
    }
    assertThat(effects()).isEmpty();
  }

  @Test
  void onTheirConnectionWorkJoinsIt() throws SQLException {
    Transactor transactor = new Transactor(handingOut(theirs));

    transactor.runJoined(theirs, ForeignTransactionTest::insertOurs);

    assertThat(effects()).isEmpty();
    theirs.commit();
    assertThat(effects()).containsExactlyInAnyOrder("ours", "theirs");
  }

  /** As in a method that Spring has begun a transaction for, before its first statement. */
  @Test
  void oneThatHasSentNothingYetIsRefusedBeforeAnythingIsSent() throws SQLException {
    theirs.rollback();
    Transactor transactor = new Transactor(handingOut(theirs));

    assertThatIllegalStateException()
        .isThrownBy(() -> transactor.run(ForeignTransactionTest::insertOurs))
        .withMessageContaining("join(connection, work)")
        .withMessageContaining("plain DataSource")
        .withMessageContaining("Transactor.onManualCommitPool");

    assertThat(calls).doesNotContain("prepareStatement", "commit", "rollback", "setAutoCommit");
    assertThat(theirs.getAutoCommit()).isFalse();
    theirs.rollback();
    assertThat(effects()).isEmpty();
  }

  @Test
  void aPoolOfConnectionsWithoutAutoCommitIsRefusedUnlessTheTransactorIsMadeForIt() {
    try (HikariDataSource pool = withoutAutoCommit()) {
      assertThatIllegalStateException()
          .isThrownBy(() -> new Transactor(pool).run(ForeignTransactionTest::insertOurs));
    }
    assertThat(effects()).isEmpty();
  }

  @Test
  void aTransactorForAPoolWithoutAutoCommitRefusesATransactionInProgressAllTheSame() {
    Transactor transactor =
        Transactor.onManualCommitPool(handingOut(theirs), TxOptions.DEFAULT, attempt -> {});

    assertThatIllegalStateException()
        .isThrownBy(() -> transactor.run(ForeignTransactionTest::insertOurs));

    assertThat(calls).doesNotContain("prepareStatement", "commit", "rollback", "setAutoCommit");
  }

  @Test
  void aPoolOfConnectionsWithoutAutoCommitIsFineForATransactorThatIsMadeForIt() {
    try (HikariDataSource pool = withoutAutoCommit()) {
      Transactor transactor = Transactor.onManualCommitPool(pool, TxOptions.DEFAULT, attempt -> {});
      for (int i = 0; i < 3; i++) {
        transactor.run(ForeignTransactionTest::insertOurs);
        assertThatThrownBy(() -> transactor.run(c -> Sql.execute(c, "SELECT 1/0")))
            .isInstanceOf(StatementFailed.class);
      }
    }

    assertThat(effects()).containsExactly("ours", "ours", "ours");
  }

  /** The thread has come into a transaction of somebody else's by the time that it asks. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void askingWhatBecameOfACommitDoesNotCommitItEither(boolean begun) throws SQLException {
    if (!begun) {
      theirs.rollback();
    }
    AtomicInteger handedOut = new AtomicInteger();
    DataSource losing =
        Tampered.connections(
            database.dataSource(),
            (method, call) -> {
              Object result = call.proceed();
              if (method.equals("commit")) {
                throw new SQLException("lost", "08006");
              }
              return result;
            });
    DataSource source =
        Tampered.replacing(
            losing, real -> handedOut.getAndIncrement() == 0 ? real : wrapped(theirs));

    assertThatThrownBy(
            () ->
                new Transactor(source)
                    .call(
                        TxOptions.DEFAULT,
                        c -> {
                          insertOurs(c);
                          return "inserted";
                        },
                        c -> Optional.of("found")))
        .isInstanceOf(OutcomeUnknown.class);

    assertThat(theirs.getAutoCommit()).isFalse();
    theirs.rollback();
    assertThat(effects()).containsExactly("ours");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void listeningDoesNotCommitItEither(boolean begun) throws Exception {
    if (!begun) {
      theirs.rollback();
    }
    CountDownLatch asked = new CountDownLatch(2);
    DataSource source = Tampered.gated(handingOut(theirs), asked::countDown);
    try (HintListener listener =
        new HintListener(Optional.of(source), "some_channel", "listening", hint -> {})) {
      listener.start();
      // It tries again, and so has been refused.
      assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
    }

    assertThat(calls).doesNotContain("createStatement", "setAutoCommit");
    theirs.rollback();
    assertThat(effects()).isEmpty();
  }

  private static HikariDataSource withoutAutoCommit() {
    HikariConfig config = new HikariConfig();
    config.setDataSource(database.dataSource());
    config.setMaximumPoolSize(1);
    config.setAutoCommit(false);
    return new HikariDataSource(config);
  }

  private DataSource handingOut(Connection connection) {
    return Tampered.replacing(database.dataSource(), real -> wrapped(connection));
  }

  private Connection wrapped(Connection connection) {
    return Tampered.connection(
        connection,
        (method, call) -> {
          calls.add(method);
          return method.equals("close") ? null : call.proceed();
        });
  }

  private static void insertOurs(Connection connection) throws SQLException {
    Sql.execute(connection, "INSERT INTO effect VALUES ('ours')");
  }

  private static List<String> effects() {
    return database.query("SELECT whose FROM effect ORDER BY whose", row -> row.getString(1));
  }
}
