package dev.lockstep.prove.fault;

import dev.lockstep.postgres.PostgresException;
import dev.lockstep.prove.history.Fields;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Breaks one thing and mends it again before the call returns. Thread-safe: several things may be
 * broken at a time.
 */
final class Injector {
  private static final Logger log = LoggerFactory.getLogger(Injector.class);
  private static final long CUT_PATIENCE_MS = 250;
  private static final long STEP_MS = 2;
  private static final List<String> HOT_TABLES =
      List.of(
          "lockstep.hold",
          "lockstep.pool",
          "lockstep.account",
          "lockstep.entry",
          "lockstep.job",
          "lockstep.once",
          "lockstep.outbox_key",
          "lockstep.outbox_cursor",
          "lockstep.shard");
  private static final List<String> CUT_SUBJECTS =
      List.of("", "", "hold", "once", "job", "outbox", "ledger", "tx", "sale", "shard");

  private final Cluster cluster;
  private final Coverage coverage;

  Injector(Cluster cluster) {
    this.cluster = cluster;
    this.coverage = cluster.coverage();
  }

  /** Injects one fault at a random node; returns when it is mended. */
  void inject(Fault fault, Random random) throws InterruptedException {
    inject(fault, random.nextInt(cluster.lines()), random);
  }

  /** Injects one fault at this node, if it concerns a node. */
  void inject(Fault fault, int node, Random random) throws InterruptedException {
    long amount = random.nextInt(1_000);
    try {
      switch (fault.lane()) {
        case CUTS -> cut(fault, node, CUT_SUBJECTS.get(random.nextInt(CUT_SUBJECTS.size())));
        case NODES -> stopNode(fault, node, amount);
        case SESSIONS -> terminate(random);
        case SERVER -> crash(amount);
        case BESIDE -> disturb(fault, random, amount);
        case NETWORK -> spoilNetwork(fault, node, amount);
        case BANK -> trouble(fault, amount);
      }
    } catch (SQLException | PostgresException e) {
      // Another fault was first: the database was down, for example.
      log.debug("The fault {} could not be injected as meant: {}", fault, e.toString());
    }
  }

  private void trouble(Fault fault, long amount) throws InterruptedException {
    Optional<Bank> bank = cluster.bank();
    if (bank.isPresent()) {
      coverage.injected(fault);
      bank.get().trouble(fault, amount);
    }
  }

  private void cut(Fault fault, int node, String subject) throws InterruptedException {
    Line line = cluster.line(node);
    line.arm(fault, subject);
    for (long waited = 0; line.isArmed() && waited < CUT_PATIENCE_MS; waited += STEP_MS) {
      TimeUnit.MILLISECONDS.sleep(STEP_MS);
    }
    line.disarm();
  }

  private void stopNode(Fault fault, int node, long amount) throws InterruptedException {
    NodeProcess process = cluster.node(node);
    if (process == null || !process.isReady()) {
      return;
    }
    cluster.line(node).count(fault);
    coverage.injected(fault);
    switch (fault) {
      case KILL -> {
        process.kill();
        TimeUnit.MILLISECONDS.sleep(amount);
        cluster.replace(node, process);
      }
      case PAUSE -> {
        process.pause();
        TimeUnit.MILLISECONDS.sleep(Cluster.LEASE.toMillis() + 300 + amount);
        process.resume();
      }
      default -> {
        process.leave(Duration.ofSeconds(8));
        cluster.replace(node, process);
      }
    }
  }

  private void countAll(Fault fault) {
    for (int i = 0; i < cluster.lines(); i++) {
      cluster.line(i).count(fault);
    }
    coverage.injected(fault);
  }

  private void crash(long amount) throws InterruptedException {
    countAll(Fault.CRASH);
    cluster.server().crash();
    TimeUnit.MILLISECONDS.sleep(amount / 4);
    cluster.server().restart();
  }

  private void terminate(Random random) throws SQLException {
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
      List<Integer> busy = new ArrayList<>();
      try (ResultSet row =
          statement.executeQuery(
              """
              SELECT pid FROM pg_stat_activity
              WHERE datname LIKE current_database() || '%' AND pid <> pg_backend_pid()
                AND backend_type = 'client backend' AND state <> 'idle' ORDER BY pid""")) {
        while (row.next()) {
          busy.add(row.getInt(1));
        }
      }
      if (!busy.isEmpty()) {
        countAll(Fault.TERMINATE);
        int pid = busy.get(random.nextInt(busy.size()));
        statement.execute("SELECT pg_terminate_backend(" + pid + ")");
      }
    }
  }

  private void spoilNetwork(Fault fault, int node, long amount) throws InterruptedException {
    Line line = cluster.line(node);
    line.count(fault);
    coverage.injected(fault);
    switch (fault) {
      case CUT_ALL -> line.cut();
      case DELAY -> {
        long latency = amount < 700 ? 30 + amount / 6 : amount < 950 ? 1_000 : 5_000;
        line.proxy().delay(Duration.ofMillis(latency));
        TimeUnit.MILLISECONDS.sleep(300 + Math.min(latency * 2, 5_500));
        line.proxy().delay(Duration.ZERO);
      }
      case SWALLOW -> {
        line.proxy().swallow();
        TimeUnit.MILLISECONDS.sleep(200 + 2 * amount);
        line.proxy().deliver();
      }
      case HALF_OPEN -> {
        line.proxy().stall();
        TimeUnit.MILLISECONDS.sleep(200 + amount * amount / 250);
        line.proxy().resume();
      }
      case REFUSE -> {
        line.proxy().refuse();
        line.cut();
        TimeUnit.MILLISECONDS.sleep(200 + amount / 2);
        line.proxy().accept();
      }
      default -> {
        var unused =
            cluster.call(
                node % cluster.size(),
                "hog",
                Fields.of("ms", 200 + amount),
                Duration.ofSeconds(12));
      }
    }
  }

  /** Foreign sessions in the same database. */
  private void disturb(Fault fault, Random random, long amount)
      throws SQLException, InterruptedException {
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
      countAll(fault);
      if (fault == Fault.VACUUM_FULL) {
        statement.execute("SET lock_timeout = '2s'");
        statement.execute("VACUUM (FULL) " + HOT_TABLES.get(random.nextInt(HOT_TABLES.size())));
        return;
      }
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      statement.execute("SELECT pg_current_xact_id()");
      if (fault == Fault.DUMP) {
        for (String table : HOT_TABLES) {
          statement.execute("LOCK TABLE " + table + " IN ACCESS SHARE MODE");
          statement.execute("SELECT FROM " + table + " LIMIT 1000");
        }
      }
      TimeUnit.MILLISECONDS.sleep(500 + 2 * amount);
      connection.rollback();
    }
  }
}
