package dev.lockstep.shard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nodes that die, and nodes that were only thought to be dead. */
class TakeOverTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final int SHARDS = 4;
  private static final String MEMBER_ROWS_LOCKED =
      """
      SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
      WHERE l.relation = 'lockstep.shard_member'::regclass AND l.mode = 'RowExclusiveLock'
        AND a.state = 'idle in transaction'""";

  @BeforeEach
  void table() {
    database.execute("DROP TABLE IF EXISTS written; " + OwningProcess.TABLE);
  }

  @Test
  void aKilledNodesShardsAreTakenOverWhenItsLeaseHasPassed() throws Exception {
    try (ChildJvm victim = OwningProcess.start(database, "killed", SHARDS, TestNode.LONG);
        TestNode survivor = TestNode.started(database, "killed", SHARDS)) {
      survivor.awaitOwned(SHARDS / 2);
      assertThat(survivor.owned()).allMatch(Lease::handedOver);

      victim.kill();
      assertThat(survivor.owned()).as("its lease goes on").hasSize(SHARDS / 2);
      database.execute("UPDATE lockstep.shard_member SET expires_at = now() WHERE node = 'child'");

      survivor.awaitOwned(SHARDS);
      assertThat(survivor.owned().stream().filter(lease -> !lease.handedOver()))
          .as("cut off")
          .hasSize(SHARDS / 2);
    }
  }

  /** Its lease ends an hour from now, by that clock. */
  @Test
  void aKilledNodesShardsAreTakenOverSoonAlthoughTheDatabasesClockWasSetBack() throws Exception {
    try (ChildJvm victim =
            OwningProcess.start(database, "set back", SHARDS, Duration.ofSeconds(1));
        TestNode survivor = TestNode.started(database, "set back", SHARDS)) {
      survivor.awaitOwned(SHARDS / 2);
      victim.kill();
      database.execute(
          "UPDATE lockstep.shard_member SET expires_at = now() + interval '1 hour'"
              + " WHERE node = 'child'");

      survivor.awaitOwned(SHARDS);
    }
  }

  @Test
  void aStoppedNodeIsFollowedAndWhenItGoesOnItsWritesAreRefused() throws Exception {
    try (ChildJvm stopped = OwningProcess.start(database, "stopped", SHARDS, TestNode.LONG)) {
      TestNode next = followStopped(stopped, "stopped");
      try (next) {
        stopped.send("write");
        stopped.resume();

        assertThat(stopped.awaitLine(line -> line.startsWith("written"))).isEqualTo("written 0");
        assertThat(database.queryLong("SELECT count(*) FROM written")).isZero();
      }
    }
  }

  @Test
  void withoutTheFenceItsWritesAreDoneTwice() throws Exception {
    try (ChildJvm stopped = OwningProcess.start(database, "naive", SHARDS, TestNode.LONG)) {
      TestNode next = followStopped(stopped, "naive");
      try (next) {
        // The next owner has done the work.
        for (Lease lease : next.owned()) {
          database.execute(
              "INSERT INTO written VALUES (%d, %d, true)".formatted(lease.shard(), lease.epoch()));
        }
        stopped.send("write without a fence");
        stopped.resume();
        stopped.awaitLine("written " + SHARDS);

        assertThat(
                database.queryLong(
                    "SELECT min(n) FROM (SELECT count(*) n FROM written GROUP BY shard) x"))
            .isEqualTo(2);
      }
    }
  }

  @Test
  void aNodeThatWasTakenForDeadHearsOfItAndComesBackAsAnother() throws Exception {
    try (ChildJvm stopped = OwningProcess.start(database, "back", SHARDS, Duration.ofSeconds(2))) {
      stopped.pause();
      try (TestNode next = TestNode.started(database, "back", SHARDS)) {
        next.awaitOwned(SHARDS);
        stopped.resume();

        for (int i = 0; i < SHARDS; i++) {
          stopped.awaitLine(line -> line.startsWith("lost"));
        }
        stopped.awaitLine(line -> line.startsWith("taken"));
        stopped.awaitLine(line -> line.startsWith("taken"));
        next.awaitOwned(SHARDS / 2);
      }
    }
  }

  @Test
  void aNodeStoppedInTheMiddleOfItsHeartbeatIsFollowedToo() throws Exception {
    try (ChildJvm stopped =
        OwningProcess.start(database, "heartbeat", SHARDS, Duration.ofSeconds(2))) {
      do {
        stopped.resume();
        stopped.pause();
      } while (database.queryLong(MEMBER_ROWS_LOCKED) == 0);

      try (TestNode next = TestNode.started(database, "heartbeat", SHARDS)) {
        next.awaitOwned(SHARDS);
      }
    }
  }

  @Test
  void nodesThatShareWhatADeadOneLeftGetEqualParts() throws Exception {
    try (ChildJvm victim = OwningProcess.start(database, "shared", 6, TestNode.LONG)) {
      victim.kill();
      TestNode.age(database, "shared");
      List<TestNode> nodes =
          List.of(
              TestNode.started(database, "shared", 6),
              TestNode.started(database, "shared", 6),
              TestNode.started(database, "shared", 6));
      Await.until("two each", () -> nodes.stream().allMatch(node -> node.owned().size() == 2));
      nodes.forEach(TestNode::close);
    }
  }

  /** The child stands still, its lease passes, and a node of this process follows it. */
  private static TestNode followStopped(ChildJvm stopped, String group) {
    OwningProcess.pauseBetweenTransactions(database, stopped);
    TestNode.age(database, group);
    TestNode next = TestNode.started(database, group, SHARDS);
    next.awaitOwned(SHARDS);
    assertThat(next.owned()).noneMatch(Lease::handedOver);
    return next;
  }
}
