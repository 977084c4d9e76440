package dev.lockstep.server;

import dev.lockstep.server.api.WorkersConfig;
import dev.lockstep.server.setting.Kind;
import dev.lockstep.server.setting.SettingReader;
import dev.lockstep.tx.TxOptions;
import java.time.Duration;

/**
 * How the database is used.
 *
 * @param poolSize connections that this server keeps at most (20)
 * @param poolWait how long somebody waits for one of them (3 s)
 * @param transactions how a transaction runs unless its block says otherwise. Its idle time-out
 *     (2.5 s) is below its lock time-out (3 s): nothing of ours computes for long in a transaction,
 *     and should this process stand still, those who wait for its rows get them. One attempt (8 s)
 *     has room for one wait for a lock and for a slow COMMIT
 * @param workers how many requests use it at a time
 */
record DatabaseSettings(
    int poolSize, Duration poolWait, TxOptions transactions, WorkersConfig workers) {
  static final DatabaseSettings DEFAULT =
      new DatabaseSettings(
          20,
          Duration.ofSeconds(3),
          TxOptions.DEFAULT
              .withIdleTimeout(Duration.ofMillis(2_500))
              .withStatementTimeout(Duration.ofSeconds(8))
              .withTransactionTimeout(Duration.ofSeconds(8)),
          WorkersConfig.DEFAULT);

  private static final Kind<Duration> TIMEOUT =
      Kind.duration(Duration.ofMillis(100), Duration.ofMinutes(10));

  static DatabaseSettings read(SettingReader in) {
    in.group("Database");
    TxOptions usual = DEFAULT.transactions;
    int size =
        in.read(
            "pool.size",
            Kind.number(4, 1_000),
            DEFAULT.poolSize,
            "How many connections to the database this server keeps at most.");
    Duration wait =
        in.read(
            "pool.wait",
            // The pool knows no less.
            Kind.duration(Duration.ofMillis(250), Duration.ofMinutes(1)),
            DEFAULT.poolWait,
            "How long a request waits for one of these connections before it is refused.");
    Duration statement =
        in.read(
            "statement.timeout",
            TIMEOUT,
            usual.statementTimeout(),
            "How long one statement may run.");
    Duration lock =
        in.read(
            "lock.timeout",
            TIMEOUT,
            usual.lockTimeout(),
            "How long a statement may wait for one lock.");
    Duration idle =
        in.read(
            "idle.timeout",
            TIMEOUT,
            usual.idleTimeout(),
            "How long the database waits for a transaction's next statement before it rolls back.");
    Duration attempt =
        in.read(
            "transaction.timeout",
            TIMEOUT,
            usual.transactionTimeout(),
            "How long one attempt may take on the server, or statement.timeout where that is longer;"
                + " PostgreSQL 17 and later.");
    Duration deadline =
        in.read(
            "transaction.deadline",
            TIMEOUT,
            usual.deadline(),
            "How long a transaction may take in all: waiting, every attempt, every pause.");
    require(
        in, lock, "lock.timeout", statement, "statement.timeout", "it would end the wait first");
    require(
        in,
        idle,
        "idle.timeout",
        lock,
        "lock.timeout",
        "a node that stands still would cost others their wait");
    require(in, statement, "statement.timeout", deadline, "transaction.deadline", "it ends first");
    require(in, wait, "pool.wait", deadline, "transaction.deadline", "it ends first");
    return new DatabaseSettings(
        size,
        wait,
        new TxOptions(
            usual.label(),
            usual.isolation(),
            usual.readOnly(),
            lock,
            statement,
            idle,
            attempt,
            deadline,
            usual.retry(),
            usual.indexLookups()),
        workers(in));
  }

  private static WorkersConfig workers(SettingReader in) {
    WorkersConfig usual = WorkersConfig.DEFAULT;
    return new WorkersConfig(
        in.read(
            "request.threads",
            Kind.number(1, 500),
            usual.threads(),
            "How many requests of buyers, and changes, use the database at a time."),
        in.read(
            "request.queue",
            Kind.number(1, 1_000_000),
            usual.maxWaiting(),
            "How many of them may wait for their turn."),
        in.read(
            "report.threads",
            Kind.number(1, 100),
            usual.reportThreads(),
            "How many reports of operators run at a time, each on a connection besides the pool's."),
        in.read(
            "report.queue",
            Kind.number(1, 10_000),
            usual.maxReportsWaiting(),
            "How many reports may wait for their turn."),
        in.read(
            "report.timeout",
            TIMEOUT,
            usual.reportTimeout(),
            "How long a report may take before it is refused as too slow."));
  }

  private static void require(
      SettingReader in, Duration less, String name, Duration more, String other, String why) {
    in.require(less.compareTo(more) <= 0, name, "must not exceed", other, why);
  }
}
