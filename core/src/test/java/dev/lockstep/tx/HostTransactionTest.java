package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.fault.StatementFailed;
import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The application's framework runs a transaction. The pool has two connections, so a third at a
 * time would be missed.
 */
class HostTransactionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty().withPoolSize(2);

  private final Attempted attempted = new Attempted();
  private final PlainHost host = new PlainHost(database.dataSource());
  private final Transactor plain =
      new Transactor(database.dataSource(), TxOptions.DEFAULT, attempted);
  private final Transactor transactor = plain.withHost(host);

  @BeforeEach
  void emptyTable() {
    database.execute("DROP TABLE IF EXISTS effect; CREATE TABLE effect (whose text PRIMARY KEY)");
  }

  @Test
  void workJoinsItAndItsFrameworkCommits() throws SQLException {
    host.transaction(
        theirs -> {
          insert(theirs, "theirs");
          transactor.run(
              c -> {
                assertThat(c).isSameAs(theirs);
                insert(c, "ours");
              });
          assertThat(effects()).as("nothing is committed yet").isEmpty();
          assertThat(transactor.inTransaction()).isTrue();
        });

    assertThat(effects()).containsExactly("ours", "theirs");
    assertThat(attempted.attempts()).as("not ours to report").isEmpty();
    assertThat(transactor.inTransaction()).isFalse();
  }

  @Test
  void itsRollbackTakesOurWorkWithIt() {
    assertThatThrownBy(
            () ->
                host.transaction(
                    theirs -> {
                      transactor.run(c -> insert(c, "ours"));
                      throw new IllegalArgumentException("changed my mind");
                    }))
        .hasMessage("changed my mind");

    assertThat(effects()).isEmpty();
  }

  /** What the test above would see if the Transactor did not know of the host. */
  @Test
  void withoutTheHostOurWorkOutlivesItsRollback() {
    assertThatThrownBy(
            () ->
                host.transaction(
                    theirs -> {
                      plain.run(c -> insert(c, "ours"));
                      throw new IllegalArgumentException("changed my mind");
                    }))
        .hasMessage("changed my mind");

    assertThat(effects()).containsExactly("ours");
  }

  @Test
  void itCannotCommitWorkThatFailedHalfDoneEvenIfTheFailureIsSwallowed() {
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                host.transaction(
                    theirs ->
                        swallow(
                            () ->
                                transactor.run(
                                    c -> {
                                      insert(c, "half");
                                      throw new IllegalArgumentException("the other half");
                                    }))))
        .withStackTraceContaining("the other half");

    assertThat(effects()).isEmpty();
  }

  @Test
  void aFailureThatTheWorkItselfSwallowedIsNotCommittedEither() {
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                host.transaction(
                    theirs ->
                        assertThatThrownBy(
                                () ->
                                    transactor.run(
                                        c ->
                                            swallow(
                                                () ->
                                                    transactor.run(
                                                        d -> {
                                                          insert(d, "half");
                                                          throw new IllegalArgumentException();
                                                        }))))
                            .isInstanceOf(TransactionDoomed.class)));

    assertThat(effects()).isEmpty();
  }

  @Test
  void aFaultOfTheDatabaseArrivesAsOurs() {
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                host.transaction(
                    theirs -> {
                      insert(theirs, "same");
                      assertThatThrownBy(() -> transactor.run(c -> insert(c, "same")))
                          .isInstanceOf(ConstraintViolated.class);
                    }))
        .withCauseInstanceOf(ConstraintViolated.class);
  }

  @Test
  void aSavepointConfinesAFailure() throws SQLException {
    host.transaction(
        theirs ->
            transactor.run(
                c -> {
                  insert(c, "ours");
                  swallow(
                      () ->
                          transactor.nested(
                              d -> {
                                insert(d, "undone");
                                throw new IllegalArgumentException();
                              }));
                }));

    assertThat(effects()).containsExactly("ours");
  }

  @Test
  void aNewTransactionOfTheFrameworkInsideOursIsTheOneThatIsJoined() {
    assertThatThrownBy(
            () ->
                host.transaction(
                    outer ->
                        transactor.run(
                            c -> {
                              insert(c, "outer");
                              host.transaction(
                                  inner ->
                                      transactor.run(
                                          d -> {
                                            assertThat(d).isSameAs(inner);
                                            insert(d, "inner");
                                          }));
                              transactor.run(d -> assertThat(d).isSameAs(outer));
                              throw new IllegalArgumentException("roll back the outer one");
                            })))
        .hasMessage("roll back the outer one");

    assertThat(effects()).containsExactly("inner");
  }

  @Test
  void whileItIsSuspendedACallCommitsByItself() {
    assertThatThrownBy(
            () ->
                host.transaction(
                    theirs ->
                        transactor.run(
                            c -> {
                              insert(c, "theirs");
                              host.suspended(() -> transactor.run(d -> insert(d, "ours")));
                              throw new IllegalArgumentException("roll back");
                            })))
        .hasMessage("roll back");

    assertThat(effects()).containsExactly("ours");
  }

  @Test
  void itIsJoinedInsideATransactionOfOurOwn() {
    transactor.run(
        c -> {
          insert(c, "ours");
          assertThatThrownBy(
                  () ->
                      host.transaction(
                          theirs -> {
                            transactor.run(d -> insert(d, "theirs"));
                            throw new IllegalArgumentException("roll back theirs");
                          }))
              .hasMessage("roll back theirs");
        });

    assertThat(effects()).containsExactly("ours");
  }

  @Test
  void aPoolThatItHasEmptiedBlocksNobody() throws SQLException {
    host.transaction(
        outer ->
            host.transaction(
                inner -> {
                  // Both connections are in use, and none is needed.
                  transactor.run(c -> insert(c, "ours"));
                  assertThat(
                          transactor.<Long>call(c -> Sql.query(c, "SELECT count(*) FROM effect")))
                      .isEqualTo(1);
                }));

    assertThat(effects()).containsExactly("ours");
  }

  @Test
  void aCallThatMustCommitByItselfIsRefusedAndNamesBothWaysOut() throws SQLException {
    host.transaction(
        theirs ->
            assertThatIllegalStateException()
                .isThrownBy(
                    () ->
                        transactor.call(
                            TxOptions.DEFAULT.withLabel("transfer"),
                            c -> {
                              insert(c, "ours");
                              return "done";
                            },
                            c -> Optional.empty()))
                .withMessageContaining("'transfer' commits by itself")
                .withMessageContaining("takes a connection")
                .withMessageContaining("outside the transaction"));

    assertThat(effects()).isEmpty();
  }

  @Test
  void workThatNeedsMoreIsolationThanItHasIsRefused() {
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                host.transaction(
                    theirs ->
                        transactor.run(
                            TxOptions.DEFAULT.withIsolation(Isolation.SERIALIZABLE),
                            c -> insert(c, "ours"))))
        .withMessageContaining("needs SERIALIZABLE");
  }

  @Test
  void aWriteInAReadOnlyOneIsAMistakeAndNoSignOfAStandby() {
    assertThatThrownBy(
            () ->
                host.transaction(
                    theirs -> {
                      theirs.setReadOnly(true);
                      try {
                        transactor.run(c -> insert(c, "ours"));
                      } finally {
                        theirs.rollback();
                        theirs.setReadOnly(false);
                      }
                    }))
        .isInstanceOf(StatementFailed.class);
  }

  @Test
  void actionsRunAfterItsCommitOnceAndNotAfterARollback() throws SQLException {
    AtomicInteger ran = new AtomicInteger();
    Runnable action = ran::incrementAndGet;

    host.transaction(
        theirs -> {
          assertThat(transactor.afterCommit(action)).isTrue();
          transactor.run(c -> assertThat(transactor.afterCommit(action)).isTrue());
          assertThat(ran).hasValue(0);
        });
    assertThat(ran).hasValue(1);

    assertThatThrownBy(
            () ->
                host.transaction(
                    theirs -> {
                      transactor.afterCommit(action);
                      throw new IllegalArgumentException("roll back");
                    }))
        .hasMessage("roll back");
    assertThat(ran).hasValue(1);
  }

  @Test
  void actionsRunAfterOurOwnCommitToo() {
    List<String> seen = new ArrayList<>();

    transactor.run(
        c -> {
          insert(c, "ours");
          transactor.afterCommit(() -> seen.addAll(effects()));
          assertThat(seen).isEmpty();
        });
    assertThatThrownBy(
            () ->
                transactor.run(
                    c -> {
                      transactor.afterCommit(() -> seen.add("never"));
                      throw new IllegalArgumentException("roll back");
                    }))
        .hasMessage("roll back");

    assertThat(seen).containsExactly("ours");
  }

  @Test
  void onAConnectionOfTheCallersNobodyKnowsWhenItCommits() throws SQLException {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      transactor.runJoined(connection, c -> assertThat(transactor.afterCommit(() -> {})).isFalse());
      connection.rollback();
      connection.setAutoCommit(true);
    }
  }

  private static void swallow(Runnable code) {
    assertThatThrownBy(code::run).isInstanceOf(RuntimeException.class);
  }

  private static void insert(Connection connection, String whose) throws SQLException {
    Sql.execute(connection, "INSERT INTO effect VALUES (?)", whose);
  }

  private static List<String> effects() {
    return database.query("SELECT whose FROM effect ORDER BY whose", row -> row.getString(1));
  }
}
