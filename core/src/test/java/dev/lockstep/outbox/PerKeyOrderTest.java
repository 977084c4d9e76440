package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.fault.LockstepException;
import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * G7: with writers that are slow and that roll back, relays that are killed and stopped, a database
 * that crashes and a sink that fails, a consumer has every committed event, key by key in order.
 */
class PerKeyOrderTest {
  static final OutboxConfig CONFIG = OutboxConfig.DEFAULT.withPartitions(8);
  private static final String STREAM = "trades";
  private static final int WRITERS = 16;
  private static final int KEYS = 500;
  private static final long EVENTS = 200_000;
  private static final int LONG = 50;
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  @RegisterExtension
  static final TestDatabase database = TestDatabase.ownServer(true).withPoolSize(30);

  private final AtomicLong committed = new AtomicLong();
  private final ConsumerLog log = new ConsumerLog();

  @Test
  void everyCommittedEventArrivesInTheOrderOfItsKey() throws Exception {
    Transactor transactor = new Transactor(database.dataSource());
    Outbox outbox = new Outbox(transactor, CONFIG);
    try (SocketBroker broker = new SocketBroker(log, 1);
        ChildJvm killed = RelayingProcess.start(database, "killed");
        ChildJvm stopped = RelayingProcess.start(database, "stopped");
        ChildJvm steady = RelayingProcess.start(database, "steady")) {
      SinkSpec sink = SinkSpec.of("consumer", SocketSink.TYPE, Integer.toString(broker.port()));
      outbox.define(STREAM, List.of(sink), "test");
      try (Relay relay = outbox.relay(RelayingProcess.config("here"), SocketSink.types())) {
        CompletableFuture<Void> writing =
            CompletableFuture.runAsync(() -> writeAll(transactor, outbox));
        killed.awaitLine("relaying");
        stopped.awaitLine("relaying");
        steady.awaitLine("relaying");
        await("its share", () -> owned("killed") > 0 && owned("stopped") > 0);

        await("under way", () -> log.count() > EVENTS / 10);
        killed.kill();
        stopped.pause();
        await("both followed", () -> members("killed") + members("stopped") == 0);
        stopped.resume();
        await("half of it", () -> log.count() > EVENTS / 2);
        database.server().crash();
        database.server().restart();
        writing.join();

        Map<String, Long> expected = committedByKey();
        long total = expected.values().stream().mapToLong(Long::longValue).sum();
        await("all delivered", () -> log.count() >= total || !log.faults().isEmpty());
        assertThat(log.faults()).isEmpty();
        assertThat(log.last()).isEqualTo(expected);
        assertThat(total).isGreaterThanOrEqualTo(EVENTS);
        await("a share again, after the crash", () -> relay.ownedPartitions() > 0);
      }
    }
  }

  private void writeAll(Transactor transactor, Outbox outbox) {
    try {
      Race.<Boolean>of(WRITERS)
          .within(PATIENCE)
          .run(
              writer -> {
                Random random = new Random(writer);
                while (committed.get() < EVENTS) {
                  write(transactor, outbox, random);
                }
                return true;
              })
          .valuesOrThrow();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void write(Transactor transactor, Outbox outbox, Random random) {
    List<NewEvent> events = new ArrayList<>();
    int key = random.nextInt(KEYS);
    for (int i = 0; i < 50; i++) {
      events.add(
          NewEvent.of(STREAM, "k" + (key + i / 10) % KEYS, "booked", Content.json("{\"n\":1}")));
    }
    int fate = random.nextInt(100);
    try {
      transactor.run(connection -> append(connection, outbox, events, fate));
      committed.addAndGet(events.size());
    } catch (Abort e) {
      // On purpose.
    } catch (LockstepException e) {
      // The database was away. Whether this was committed is asked at the end.
    }
  }

  private static void append(Connection connection, Outbox outbox, List<NewEvent> events, int fate)
      throws SQLException {
    if (fate % 2 == 0) {
      // Its transaction's id is older than its turn at the keys.
      Sql.text(connection, "SELECT pg_current_xact_id()::text");
    }
    outbox.appendAll(connection, events);
    if (fate < 3) {
      // A long transaction: others that came later are through before it.
      for (int i = 0; i < LONG; i++) {
        Sql.text(connection, "SELECT ''");
      }
    } else if (fate < 13) {
      throw new Abort();
    }
  }

  private static final class Abort extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private static Map<String, Long> committedByKey() {
    Map<String, Long> all = new HashMap<>();
    database
        .query(
            "SELECT key, seq FROM lockstep.outbox_key",
            row -> Map.entry(row.getString(1), row.getLong(2)))
        .forEach(entry -> all.put(entry.getKey(), entry.getValue()));
    return all;
  }

  private static long members(String node) {
    return database.queryLong("SELECT count(*) FROM lockstep.shard_member WHERE node = ?", node);
  }

  private static long owned(String node) {
    return database.queryLong(
        """
        SELECT count(*) FROM lockstep.shard s JOIN lockstep.shard_member m ON m.member = s.owner
        WHERE m.node = ?""",
        node);
  }

  /** More patient than usual: the machine may be slow, and there is much to do. */
  private static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("never came true: %s", what).isLessThan(deadline);
      LockSupport.parkNanos(5_000_000);
    }
  }
}
