package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A framework hears of the transactions that a Transactor runs. */
class SharedTransactionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private final List<String> heard = new ArrayList<>();
  private final Transactor transactor = on(database.dataSource());

  @BeforeEach
  void emptyTable() {
    database.execute("DROP TABLE IF EXISTS effect; CREATE TABLE effect (whose text)");
  }

  private Transactor on(DataSource dataSource) {
    return new Transactor(dataSource).withHost(new Listening());
  }

  private final class Listening implements HostTransactions {
    @Override
    public Optional<HostTransaction> current(DataSource dataSource) {
      return Optional.empty();
    }

    @Override
    public SharedTransaction share(DataSource dataSource, Connection connection) {
      heard.add("shared");
      return new SharedTransaction() {
        @Override
        public void beforeCommit() {
          heard.add("before commit");
          try {
            Sql.execute(connection, "INSERT INTO effect VALUES ('the framework')");
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
        }

        @Override
        public void leave() {
          heard.add("left");
        }

        @Override
        public void ended(Ending ending) {
          heard.add(ending + " " + effects());
        }
      };
    }
  }

  @Test
  void itMayWriteBeforeTheCommitAndHearsOfItAfterwards() {
    transactor.run(
        c -> {
          Sql.execute(c, "INSERT INTO effect VALUES ('ours')");
          transactor.run(joined -> assertThat(joined).isSameAs(c));
        });

    assertThat(heard).containsExactly("shared", "before commit", "left", "COMMITTED 2");
  }

  @Test
  void itHearsOfARollback() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    c -> {
                      throw new IllegalArgumentException("no");
                    }))
        .hasMessage("no");

    assertThat(heard).containsExactly("shared", "left", "ROLLED_BACK 0");
  }

  @Test
  void itHearsOfATransactionThatIsDoomedAfterItsWork() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    c ->
                        assertThatThrownBy(
                                () ->
                                    transactor.run(
                                        d -> {
                                          throw new IllegalArgumentException("no");
                                        }))
                            .hasMessage("no")))
        .isInstanceOf(TransactionDoomed.class);

    assertThat(heard).containsExactly("shared", "before commit", "left", "ROLLED_BACK 0");
  }

  @Test
  void itHearsOfEachAttempt() {
    transactor.run(
        c -> {
          if (heard.size() < 3) {
            throw new SQLException("could not serialize", "40001");
          }
        });

    assertThat(heard)
        .containsExactly(
            "shared", "left", "ROLLED_BACK 0", "shared", "before commit", "left", "COMMITTED 1");
  }

  @Test
  void aLostCommitIsUnknown() {
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

    assertThatThrownBy(() -> on(losing).run(c -> Sql.execute(c, "SELECT 1")))
        .isInstanceOf(OutcomeUnknown.class);

    assertThat(heard).containsExactly("shared", "before commit", "left", "UNKNOWN 1");
  }

  private static long effects() {
    return database.queryLong("SELECT count(*) FROM effect");
  }
}
