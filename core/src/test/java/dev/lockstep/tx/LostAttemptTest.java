package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.CallResult;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.testkit.LatePacket;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An attempt was lost with its connection before the server told its name. Whatever comes of the
 * next one, nothing is said that the lost one could still prove wrong.
 */
class LostAttemptTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final String INSERT = "INSERT INTO effect VALUES (?)";
  private static final String LOCK = "SELECT FROM contended FOR UPDATE";

  private final Attempted attempted = new Attempted();
  private final AtomicInteger attempts = new AtomicInteger();
  private LatePacket network;

  @BeforeEach
  void tables() {
    database.execute(
        """
        DROP TABLE IF EXISTS effect, contended;
        CREATE TABLE effect (n int PRIMARY KEY CHECK (n > 0));
        CREATE TABLE contended (n int);
        INSERT INTO contended VALUES (1)""");
    network = LatePacket.on(database);
    network.arm();
  }

  @AfterEach
  void close() {
    network.close();
  }

  /** How the attempt after the lost one ends. */
  enum End {
    LOCK_TIMEOUT {
      @Override
      void happens(Connection connection) throws SQLException {
        Sql.execute(connection, LOCK);
      }
    },
    STATEMENT_TIMEOUT {
      @Override
      void happens(Connection connection) throws SQLException {
        Sql.execute(connection, "SELECT pg_sleep(60)");
      }
    },
    DEADLINE {
      @Override
      TxOptions options() {
        return super.options().withDeadline(Duration.ofSeconds(1));
      }

      @Override
      void happens(Connection connection) throws SQLException {
        Sql.execute(connection, "SET LOCAL statement_timeout = 0");
        Sql.execute(connection, "SELECT pg_sleep(60)");
      }
    },
    CONSTRAINT {
      @Override
      void happens(Connection connection) throws SQLException {
        Sql.execute(connection, INSERT, -1);
      }
    },
    CONFLICT_TO_THE_END {
      @Override
      void happens(Connection connection) throws SQLException {
        throw SqlFault.conflict("as before");
      }
    },
    MISTAKE_IN_A_STATEMENT {
      @Override
      void happens(Connection connection) throws SQLException {
        Sql.execute(connection, "SELECT nothing FROM nowhere");
      }
    },
    EXCEPTION_OF_THE_WORK {
      @Override
      void happens(Connection connection) {
        throw new IllegalArgumentException("changed my mind");
      }
    },
    ERROR_OF_THE_WORK {
      @Override
      void happens(Connection connection) {
        throw new StackOverflowError("only a drill");
      }
    },
    INTERRUPTED {
      @Override
      void happens(Connection connection) throws SQLException {
        Thread.currentThread().interrupt();
        throw SqlFault.conflict("as before");
      }
    },
    NO_CONNECTION {
      @Override
      boolean hasConnection() {
        return false;
      }
    };

    TxOptions options() {
      return TxOptions.DEFAULT
          .withRetry(new RetryPolicy(3, Duration.ofMillis(1), Duration.ofMillis(1)))
          .withLockTimeout(Duration.ofMillis(50))
          .withStatementTimeout(Duration.ofMillis(500))
          .withDeadline(Duration.ofSeconds(20));
    }

    void happens(Connection connection) throws SQLException {}

    boolean hasConnection() {
      return true;
    }
  }

  @ParameterizedTest
  @EnumSource
  void whateverEndsTheNextAttemptTheOutcomeIsUnknown(End end) throws SQLException {
    try (Connection holder = database.connection()) {
      holder.setAutoCommit(false);
      Sql.execute(holder, LOCK);

      assertThatThrownBy(
              () ->
                  transactor(end)
                      .exchange(
                          end.options(),
                          exchange -> {
                            if (attempts.incrementAndGet() > 1) {
                              end.happens(exchange.connection());
                            }
                            return insertAtOnce(exchange);
                          },
                          connection -> Optional.empty()))
          .isInstanceOf(OutcomeUnknown.class);
    } finally {
      // Interrupted by one of the ends.
      var unused = Thread.interrupted();
    }
    assertThat(network.awaitKept()).as("lost in one packet").contains("COMMIT");
    assertThat(attempted.outcomes()).last().isEqualTo(TxAttempt.TxOutcome.UNKNOWN);
    network.deliver();
    assertThat(database.queryLong("SELECT count(*) FROM effect"))
        .as("the lost one came true")
        .isEqualTo(1);
  }

  @Test
  void whatStandsIsToldAndWhatDependsOnTheLostOneIsUnknown() {
    List<CallResult<String>> told =
        transactor(End.CONSTRAINT)
            .exchange(
                TxOptions.DEFAULT,
                exchange -> {
                  insertAtOnce(exchange);
                  List<AttemptResult<String>> verdicts = new ArrayList<>();
                  verdicts.add(new AttemptResult.Final<>("written"));
                  verdicts.add(new AttemptResult.Conditional<>("refused"));
                  return verdicts;
                },
                connection -> Optional.empty());

    assertThat(told.get(0)).isEqualTo(new CallResult.Answer<>("written"));
    assertThat(told.get(1)).isInstanceOf(CallResult.Unknown.class);
    network.deliver();
    assertThat(database.queryLong("SELECT count(*) FROM effect")).isEqualTo(1);
  }

  @Test
  void whatIsFoundIsTold() {
    List<CallResult<String>> told =
        transactor(End.CONSTRAINT)
            .exchange(
                TxOptions.DEFAULT,
                LostAttemptTest::insertAtOnce,
                connection -> {
                  network.deliver();
                  return Optional.of(AttemptResult.conditional(List.of("found")));
                });

    assertThat(told).containsExactly(new CallResult.Answer<>("found"));
  }

  private Transactor transactor(End end) {
    // One for the first attempt, and one to look for its effect.
    AtomicInteger left = new AtomicInteger(end.hasConnection() ? Integer.MAX_VALUE : 2);
    DataSource source =
        Tampered.gated(
            network.dataSource(),
            () -> {
              if (left.getAndDecrement() <= 0) {
                throw new SQLException("too many connections", "53300");
              }
            });
    return new Transactor(source, TxOptions.DEFAULT, attempted);
  }

  private static List<AttemptResult<String>> insertAtOnce(Exchange exchange) throws SQLException {
    RoundTrip trip = exchange.trip();
    trip.update(INSERT, 1);
    exchange.deferInOnePacket(trip);
    return AttemptResult.conditional(List.of("inserted"));
  }
}
