package dev.lockstep.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an owner writes counts while its epoch does, and not a moment longer. */
class FenceTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final String SAVE = "UPDATE note SET text = ? WHERE shard = ?";
  private static final String SAVE_FENCED = SAVE + " AND " + Lease.FENCE;
  private static final UUID MEMBER = UUID.randomUUID();
  private static final AtomicInteger groups = new AtomicInteger();

  private final String group = "group-" + groups.incrementAndGet();
  private final Transactor transactor =
      new Transactor(database.dataSource(), Await.PATIENTLY, attempt -> {});

  @BeforeAll
  static void table() {
    database.execute("CREATE TABLE note (shard smallint, text text); INSERT INTO note VALUES (0)");
  }

  @Test
  void theOwnerWritesAndTheFormerOwnerDoesNot() {
    try (TestNode first = quiet()) {
      first.awaitOwned(1);
      Lease former = first.lease(0);
      assertThat(save(former, "first")).isTrue();

      Lease successor = successorOf(former);

      assertThat(save(former, "stale")).isFalse();
      assertThat(save(successor, "second")).isTrue();
      assertThat(save(former, "stale again")).isFalse();
      assertThat(note()).isEqualTo("second");
    }
  }

  @Test
  void whoHasHandedAShardOverWritesNothingMoreAlsoWhileNobodyHasIt() {
    Lease former;
    try (TestNode first = quiet()) {
      first.awaitOwned(1);
      former = first.lease(0);
      assertThat(save(former, "first")).isTrue();
    }

    assertThat(save(former, "stale")).isFalse();
    assertThat(note()).isEqualTo("first");
    assertThat(
            database.queryLong(
                "SELECT count(owner) FROM lockstep.shard WHERE shard_group = ?", group))
        .isZero();
  }

  @Test
  void withoutTheFenceTheFormerOwnersWriteGoesThrough() {
    try (TestNode first = quiet()) {
      first.awaitOwned(1);
      Lease successor = successorOf(first.lease(0));
      save(successor, "second");

      // The naive owner checks and then writes; between the two it may stop for any length of time.
      transactor.run(c -> Sql.execute(c, SAVE, "stale", (short) 0));

      assertThat(note()).isEqualTo("stale");
    }
  }

  @Test
  void theFormerOwnerIsRefusedEvenIfItsLeaseHasTimeLeftByEveryClock() {
    try (TestNode first = quiet()) {
      first.awaitOwned(1);
      Lease former = first.lease(0);

      successorOf(former);

      assertThat(
              database.queryLong(
                  "SELECT count(*) FROM lockstep.shard_member"
                      + " WHERE shard_group = ? AND expires_at > now()",
                  group))
          .isEqualTo(1);
      assertThat(save(former, "stale")).isFalse();
    }
  }

  @Test
  void anOwnerWhoseLeaseHasPassedWritesAsLongAsNobodyHasFollowed() {
    try (TestNode first = quiet()) {
      first.awaitOwned(1);

      TestNode.age(database, group);

      assertThat(save(first.lease(0), "late")).isTrue();
      assertThat(note()).isEqualTo("late");
    }
  }

  @Test
  void aFencedWriteWaitsForAChangeOfOwnerAndThenSeesIt() throws Exception {
    try (TestNode first = quiet()) {
      first.awaitOwned(1);
      Lease lease = first.lease(0);
      save(lease, "before");
      try (Connection change = database.connection()) {
        change.setAutoCommit(false);
        Sql.execute(
            change,
            "UPDATE lockstep.shard SET epoch = epoch + 1 WHERE shard = 0 AND shard_group = ?",
            group);
        Background<Boolean> late = Background.start(() -> save(lease, "late"));
        Await.blocked(database, 1);
        change.commit();

        assertThat(late.result()).isFalse();
      }
      assertThat(note()).isEqualTo("before");
    }
  }

  @Test
  void aFencedTransactionIsOverBeforeTheNextOwnerBegins() throws Exception {
    try (TestNode first = quiet()) {
      first.awaitOwned(1);
      Lease lease = first.lease(0);
      try (Connection open = database.connection()) {
        open.setAutoCommit(false);
        assertThat(lease.holdUntilCommit(open)).isTrue();
        Sql.execute(open, SAVE, "in time", (short) 0);

        assertThat(new ShardTable(transactor, TestNode.config(group, 1)).take(MEMBER, seen(lease)))
            .isEmpty();
        open.commit();
      }
      Lease successor = successorOf(lease);
      assertThat(successor.epoch()).isEqualTo(lease.epoch() + 1);
      assertThat(note()).isEqualTo("in time");
    }
  }

  @Test
  void aProcessThatStopsBetweenFenceAndCommitHoldsNobodyUpForLongerThanALease() throws Exception {
    ShardsConfig config =
        TestNode.config(group, 1).withLease(Duration.ofMillis(500), Duration.ofMillis(50));
    try (TestNode first = new TestNode(database, config)) {
      first.shards().start();
      Await.until("owns it", () -> first.owned().size() == 1);
      Lease lease = first.lease(0);
      try (Connection stopped = database.connection()) {
        stopped.setAutoCommit(false);
        assertThat(lease.holdUntilCommit(stopped)).isTrue();

        // The process does nothing more; its session is ended for it.
        ShardTable table = new ShardTable(transactor, config);
        Await.until("taken", () -> !table.take(MEMBER, seen(lease)).isEmpty());

        assertThatThrownBy(() -> Sql.execute(stopped, SAVE, "stale", (short) 0))
            .isInstanceOf(SQLException.class);
      }
    }
  }

  @Test
  void aFenceNeedsATransaction() throws Exception {
    try (TestNode node = quiet();
        Connection connection = database.connection()) {
      node.awaitOwned(1);

      assertThatThrownBy(() -> node.lease(0).holdUntilCommit(connection))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  /** One heartbeat to take the shard, and no more: it is for the test to say what happens next. */
  private TestNode quiet() {
    TestNode node =
        new TestNode(
            database, TestNode.config(group, 1).withLease(TestNode.LONG, Duration.ofMinutes(5)));
    node.shards().start();
    return node;
  }

  private static List<GroupView.ShardRow> seen(Lease lease) {
    return List.of(new GroupView.ShardRow(lease.shard(), lease.epoch(), null));
  }

  /** Takes the shard away, as a member would that thinks the owner dead. */
  private Lease successorOf(Lease former) {
    ShardTable.Taken taken =
        new ShardTable(transactor, TestNode.config(group, 1)).take(MEMBER, seen(former)).get(0);
    return new Lease(
        new Membership(TestNode.LONG, TestNode.LONG),
        group,
        taken.shard(),
        taken.epoch(),
        taken.handedOver());
  }

  private boolean save(Lease lease, String text) {
    return transactor.call(
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          lease.bound(trip);
          Rows<Object> saved = trip.update(SAVE_FENCED, lease.fenced(text, (short) 0));
          trip.send();
          return saved.changed() == 1;
        });
  }

  private static String note() {
    return database.query("SELECT text FROM note", row -> row.getString(1)).get(0);
  }
}
