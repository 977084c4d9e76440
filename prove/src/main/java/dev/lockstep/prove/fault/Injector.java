package dev.lockstep.prove.fault;

import dev.lockstep.prove.history.Fields;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Breaks things, one after the other, as a seed says. Each call breaks one thing and mends it again
 * before it returns.
 */
public final class Injector {
  private static final Logger log = LoggerFactory.getLogger(Injector.class);
  private static final long CUT_PATIENCE_MS = 700;
  private static final long STEP_MS = 5;
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
  private static final List<String> SLOW_TABLES =
      List.of("lockstep.hold", "lockstep.entry", "lockstep.once", "lockstep.job");
  private static final List<String> CUT_SUBJECTS =
      List.of("", "", "hold", "once", "job", "outbox", "ledger", "tx", "sale", "shard");

  private final Cluster cluster;
  private final Coverage coverage;

  public Injector(Cluster cluster) {
    this.cluster = cluster;
    this.coverage = cluster.coverage();
  }

  /** Injects one fault; returns when it is mended. */
  public void inject(Fault fault, Random random) throws InterruptedException {
    cluster.revive();
    int node = random.nextInt(cluster.size());
    long amount = random.nextInt(1_000);
    String subject = CUT_SUBJECTS.get(random.nextInt(CUT_SUBJECTS.size()));
    try {
      if (fault.isCut()) {
        cut(fault, node, subject);
      } else if (fault == Fault.KILL || fault == Fault.PAUSE || fault == Fault.LEAVE) {
        stopNode(fault, node, amount);
      } else if (fault == Fault.TERMINATE || fault == Fault.CRASH) {
        stopServer(fault, random, amount);
      } else if (fault == Fault.LONG_TRANSACTION
          || fault == Fault.VACUUM_FULL
          || fault == Fault.DUMP) {
        disturb(fault, random, amount);
      } else {
        spoilNetwork(fault, node, amount);
      }
    } catch (SQLException e) {
      log.warn("The fault {} could not be injected as meant: {}", fault, e.toString());
    }
  }

  private void cut(Fault fault, int node, String subject)
      throws SQLException, InterruptedException {
    Line line = cluster.line(node);
    if (fault == Fault.SLOW_COMMIT) {
      slowCommits(true);
    }
    try {
      line.arm(fault, subject);
      for (long waited = 0; line.isArmed() && waited < CUT_PATIENCE_MS; waited += STEP_MS) {
        TimeUnit.MILLISECONDS.sleep(STEP_MS);
      }
      line.disarm();
      if (fault == Fault.SLOW_COMMIT) {
        TimeUnit.MILLISECONDS.sleep(300);
      }
    } finally {
      if (fault == Fault.SLOW_COMMIT) {
        slowCommits(false);
      }
    }
  }

  /** A deferred trigger runs within COMMIT. */
  private void slowCommits(boolean on) throws SQLException {
    for (String table : SLOW_TABLES) {
      String name = "slow_commit";
      String sql =
          on
              ? """
                CREATE CONSTRAINT TRIGGER %s AFTER INSERT OR UPDATE OR DELETE ON %s
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION prove.slow()"""
                  .formatted(name, table)
              : "DROP TRIGGER IF EXISTS %s ON %s".formatted(name, table);
      cluster.execute("SET lock_timeout = '5s'; " + sql);
    }
  }

  private void stopNode(Fault fault, int node, long amount) throws InterruptedException {
    NodeProcess process = cluster.node(node);
    if (process == null || process.isGone()) {
      cluster.begin(node);
      return;
    }
    cluster.line(node).count(fault);
    coverage.injected(fault);
    switch (fault) {
      case KILL -> {
        process.kill();
        TimeUnit.MILLISECONDS.sleep(amount);
        cluster.begin(node);
      }
      case PAUSE -> {
        process.pause();
        TimeUnit.MILLISECONDS.sleep(Cluster.LEASE.toMillis() + 300 + amount);
        process.resume();
      }
      default -> {
        process.leave(Duration.ofSeconds(8));
        cluster.begin(node);
      }
    }
  }

  private void countAll(Fault fault) {
    for (int i = 0; i < cluster.size(); i++) {
      cluster.line(i).count(fault);
    }
    coverage.injected(fault);
  }

  private void stopServer(Fault fault, Random random, long amount)
      throws SQLException, InterruptedException {
    if (fault == Fault.CRASH) {
      countAll(fault);
      cluster.server().crash();
      TimeUnit.MILLISECONDS.sleep(amount / 2);
      cluster.server().restart();
      return;
    }
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
      List<Integer> busy = new ArrayList<>();
      try (ResultSet row =
          statement.executeQuery(
              """
              SELECT pid FROM pg_stat_activity
              WHERE datname = current_database() AND pid <> pg_backend_pid()
                AND state <> 'idle' ORDER BY pid""")) {
        while (row.next()) {
          busy.add(row.getInt(1));
        }
      }
      if (!busy.isEmpty()) {
        countAll(fault);
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
        long latency = amount < 600 ? 30 + amount / 6 : amount < 900 ? 1_000 : 5_000;
        line.proxy().delay(Duration.ofMillis(latency));
        TimeUnit.MILLISECONDS.sleep(400 + Math.min(latency * 2, 5_500));
        line.proxy().delay(Duration.ZERO);
      }
      case SWALLOW -> {
        line.proxy().swallow();
        TimeUnit.MILLISECONDS.sleep(200 + 2 * amount);
        line.proxy().deliver();
      }
      case HALF_OPEN -> {
        line.proxy().stall();
        TimeUnit.MILLISECONDS.sleep(200 + 4 * amount);
        line.proxy().resume();
      }
      case REFUSE -> {
        line.proxy().refuse();
        line.cut();
        TimeUnit.MILLISECONDS.sleep(200 + amount);
        line.proxy().accept();
      }
      default -> {
        var unused =
            cluster.call(node, "hog", Fields.of("ms", 300 + 2 * amount), Duration.ofSeconds(12));
      }
    }
  }

  /** Foreign sessions in the same database. */
  private void disturb(Fault fault, Random random, long amount)
      throws SQLException, InterruptedException {
    countAll(fault);
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
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
          statement.execute("SELECT count(*) FROM " + table);
        }
      }
      TimeUnit.MILLISECONDS.sleep(1_000 + 2 * amount);
      connection.rollback();
    }
  }
}
