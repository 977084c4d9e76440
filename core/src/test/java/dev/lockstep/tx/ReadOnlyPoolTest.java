package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.testkit.TestDatabase;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A pool of read-only connections, as for reports. BEGIN READ WRITE would write through it. */
class ReadOnlyPoolTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private final List<String> crossings = new CopyOnWriteArrayList<>();
  private HikariDataSource pool;
  private Transactor transactor;

  @BeforeEach
  void readOnlyConnections() {
    database.execute("DROP TABLE IF EXISTS effect; CREATE TABLE effect (whose text)");
    HikariConfig config = new HikariConfig();
    config.setDataSource(database.dataSource());
    config.setMaximumPoolSize(1);
    config.setReadOnly(true);
    pool = new HikariDataSource(config);
    transactor = new Transactor(Tampered.noting(pool, crossings));
  }

  @AfterEach
  void close() {
    pool.close();
  }

  @Test
  void nothingIsWrittenThroughItAndNothingSent() {
    assertThatIllegalStateException()
        .isThrownBy(() -> transactor.run(c -> Sql.execute(c, "INSERT INTO effect VALUES ('ours')")))
        .withMessageContaining("read-only")
        .withMessageContaining("TxOptions.asReadOnly()");
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                transactor.call(
                    TxOptions.DEFAULT,
                    c -> Sql.execute(c, "INSERT INTO effect VALUES ('ours')"),
                    c -> Optional.empty()));

    assertThat(crossings).isEmpty();
    assertThat(database.queryLong("SELECT count(*) FROM effect")).isZero();
  }

  @Test
  void readingThroughItIsFine() {
    assertThat(
            transactor.<Long>call(
                TxOptions.DEFAULT.asReadOnly(), c -> Sql.query(c, "SELECT count(*) FROM effect")))
        .isZero();
  }
}
