package dev.lockstep.outage;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.Money;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceKey;
import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * A node that stands still in the middle of a transaction, with locks that others want: it prints
 * so, and is paused then. When it goes on, it prints how what it was doing has ended.
 */
final class FrozenNode {
  static final String IN_THE_MIDDLE = "in the middle";
  static final String ENDED = "ended ";

  /** What all nodes want at once. */
  static final ScopeId SCOPE = new ScopeId(1);

  static final PoolId POOL = new PoolId(1);
  static final BookId BOOK = new BookId(1);
  static final AccountId FROM = new AccountId(1);
  static final AccountId TO = new AccountId(2);
  static final OnceKey KEY = new OnceKey(1, "owner", "key");
  static final Fingerprint REQUEST = Fingerprint.of("POST", "/", "");
  static final NewEvent EVENT = NewEvent.of("stream", "key", "noted", Content.json("{}"));

  private FrozenNode() {}

  /** Something a node does, and what stops it in the middle. */
  enum Doing {
    HOLD {
      @Override
      Object perform(Transactor transactor, Middle middle) {
        try (Holds holds = new Holds(transactor)) {
          return await(
              holds.submit(
                  acquire(), (exchange, outcomes) -> middle.reached(exchange.connection()), "p"));
        }
      }
    },
    TRANSFER {
      @Override
      Object perform(Transactor transactor, Middle middle) {
        try (Ledger ledger = new Ledger(transactor)) {
          return await(
              ledger.submit(
                  move(), (exchange, outcomes) -> middle.reached(exchange.connection()), "p"));
        }
      }
    },
    ONCE {
      @Override
      Object perform(Transactor transactor, Middle middle) {
        return new Once(transactor)
            .run(
                KEY,
                REQUEST,
                connection -> {
                  middle.reached(connection);
                  return "answer";
                });
      }
    },
    APPEND {
      @Override
      Object perform(Transactor transactor, Middle middle) {
        Outbox outbox = new Outbox(transactor);
        return transactor.call(
            connection -> {
              Object appended = outbox.append(connection, EVENT);
              middle.reached(connection);
              return appended;
            });
      }
    },
    TRANSACTION {
      @Override
      Object perform(Transactor transactor, Middle middle) {
        return transactor.call(
            connection -> {
              int changed = Sql.execute(connection, "UPDATE item SET n = n + 1 WHERE id = 1");
              middle.reached(connection);
              return changed;
            });
      }
    };

    abstract Object perform(Transactor transactor, Middle middle);
  }

  /** Called in the transaction, when it has locks that others want. */
  @FunctionalInterface
  interface Middle {
    void reached(Connection connection) throws SQLException;
  }

  static ChildJvm start(TestDatabase database, Doing doing) {
    return ChildJvm.start(
        FrozenNode.class, database.url(), database.user(), database.password(), doing.name());
  }

  public static void main(String[] args) throws Exception {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(args[0]);
    config.setUsername(args[1]);
    config.setPassword(args[2]);
    config.setMaximumPoolSize(2);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      boolean[] stood = new boolean[1];
      Object outcome =
          Doing.valueOf(args[3])
              .perform(
                  new Transactor(pool),
                  connection -> {
                    if (!stood[0]) {
                      stood[0] = true;
                      System.out.println(IN_THE_MIDDLE);
                      readLine();
                    }
                  });
      System.out.println(ENDED + outcome);
    } catch (RuntimeException e) {
      System.out.println(ENDED + e);
    }
  }

  static Acquire acquire() {
    return Acquire.of(
        SCOPE,
        HoldId.next(),
        new BuyerId("buyer"),
        List.of(Line.of(POOL, 1)),
        Duration.ofMinutes(15));
  }

  static Move move() {
    return new Move(BOOK, TransferId.next(), FROM, TO, new Money(1, "JPY"));
  }

  static <T> T await(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  private static void readLine() {
    try {
      int read = System.in.read();
      while (read >= 0 && read != '\n') {
        read = System.in.read();
      }
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
