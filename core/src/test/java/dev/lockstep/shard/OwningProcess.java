package dev.lockstep.shard;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Transactor;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A node in a process of its own. It says what it takes and loses; told to write, it writes under
 * the leases of its first shards, whatever it has heard of them since.
 */
public final class OwningProcess {
  static final String TABLE = "CREATE TABLE written (shard int, epoch bigint, fenced boolean)";
  private static final String WRITE = "INSERT INTO written SELECT ?, ?, ?";

  private OwningProcess() {}

  static ChildJvm start(TestDatabase database, String group, int shards, Duration lease)
      throws InterruptedException {
    ChildJvm child =
        ChildJvm.start(
            OwningProcess.class,
            database.url(),
            database.user(),
            database.password(),
            group,
            Integer.toString(shards),
            Long.toString(lease.toMillis()));
    child.awaitLine("ready");
    return child;
  }

  /** Stops it where it has no transaction open, so that nothing of the test waits for its locks. */
  public static void pauseBetweenTransactions(TestDatabase database, ChildJvm child) {
    child.pause();
    while (openTransactions(database) > 0) {
      child.resume();
      child.pause();
    }
  }

  /** Transactions of other processes that wait for their client, if only the child has any. */
  static long openTransactions(TestDatabase database) {
    return database.queryLong(
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
          AND backend_type = 'client backend'""");
  }

  public static void main(String[] args) throws Exception {
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(args[0]);
    pool.setUsername(args[1]);
    pool.setPassword(args[2]);
    pool.setMaximumPoolSize(4);
    int count = Integer.parseInt(args[4]);
    Duration lease = Duration.ofMillis(Long.parseLong(args[5]));
    ShardsConfig config =
        ShardsConfig.of(args[3], "child").withShards(count).withLease(lease, Duration.ofMillis(50));
    try (HikariDataSource source = new HikariDataSource(pool);
        Shards shards = new Shards(new Transactor(source), config, new Talking())) {
      shards.start();
      Await.until("owns all", () -> shards.owned().size() == count);
      List<Lease> first = shards.owned();
      System.out.println("ready");
      obey(new Transactor(source), first);
    }
  }

  private static void obey(Transactor transactor, List<Lease> leases) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String order = in.readLine(); order != null; order = in.readLine()) {
      boolean fenced = order.equals("write");
      int written = 0;
      for (Lease lease : leases) {
        written += transactor.call(connection -> write(connection, lease, fenced));
      }
      System.out.println("written " + written);
    }
  }

  private static int write(Connection connection, Lease lease, boolean fenced) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Object[] values = {lease.shard(), lease.epoch(), fenced};
    Rows<Object> rows =
        fenced
            ? trip.update(WRITE + " WHERE " + Lease.FENCE, lease.fenced(values))
            : trip.update(WRITE, values);
    trip.send();
    return rows.changed();
  }

  private static final class Talking implements ShardListener {
    @Override
    public void taken(Lease lease) {
      System.out.println("taken " + lease.shard());
    }

    @Override
    public CompletionStage<?> handOver(Lease lease) {
      return CompletableFuture.completedStage("at once");
    }

    @Override
    public void lost(Lease lease) {
      System.out.println("lost " + lease.shard());
    }
  }
}
