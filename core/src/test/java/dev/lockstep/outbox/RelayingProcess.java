package dev.lockstep.outbox;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.time.Duration;

/** A relay in a process of its own, until its standard input ends. */
final class RelayingProcess {
  static final Duration LEASE = Duration.ofMillis(1_500);
  static final Duration HEARTBEAT = Duration.ofMillis(150);

  private RelayingProcess() {}

  static ChildJvm start(TestDatabase database, String node) {
    return ChildJvm.start(
        RelayingProcess.class, database.url(), database.user(), database.password(), node);
  }

  static RelayConfig config(String node) {
    return RelayConfig.named(node)
        .withLease(LEASE, HEARTBEAT)
        .withPollInterval(Duration.ofMillis(50))
        .withPauses(Duration.ofMillis(2), Duration.ofMillis(50));
  }

  public static void main(String[] args) throws Exception {
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(args[0]);
    pool.setUsername(args[1]);
    pool.setPassword(args[2]);
    pool.setMaximumPoolSize(6);
    try (HikariDataSource source = new HikariDataSource(pool)) {
      Outbox outbox = new Outbox(new Transactor(source), PerKeyOrderTest.CONFIG);
      try (Relay relay = outbox.relay(config(args[3]), SocketSink.types())) {
        System.out.println("relaying");
        while (System.in.read() >= 0) {
          relay.wake();
        }
      }
    }
  }
}
