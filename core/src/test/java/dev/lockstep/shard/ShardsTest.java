package dev.lockstep.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nodes that come and go in order. */
class ShardsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final AtomicInteger groups = new AtomicInteger();
  private final String group = "group-" + groups.incrementAndGet();

  @Test
  void aLoneNodeOwnsEverything() {
    try (TestNode node = TestNode.started(database, group, 8)) {
      node.awaitOwned(8);

      assertThat(node.owned()).allMatch(Lease::isLive).allMatch(Lease::handedOver);
      assertThat(node.owned()).extracting(Lease::shard).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
      assertThat(node.shards().owners())
          .allMatch(owner -> owner.node().orElseThrow().equals("node"))
          .hasSize(8);
    }
  }

  @Test
  void nodesThatStartTogetherShareFairlyAndNoShardHasTwoOwners() throws Exception {
    List<TestNode> nodes =
        Race.<TestNode>of(5).run(i -> TestNode.started(database, group, 16)).valuesOrThrow();
    try {
      Await.until("fair shares", () -> shares(nodes).equals(List.of(3, 3, 3, 3, 4)));

      assertThat(nodes.stream().flatMap(node -> node.owned().stream().map(Lease::shard)))
          .containsExactlyInAnyOrderElementsOf(IntStream.range(0, 16).boxed().toList());
      // One epoch was never given to two.
      assertThat(nodes.stream().flatMap(node -> node.taken.stream()).map(Lease::toString))
          .doesNotHaveDuplicates();
    } finally {
      nodes.forEach(TestNode::close);
    }
  }

  @Test
  void aJoinerGetsItsShareOnlyWhenTheOwnerHasFinishedWithIt() {
    CompletableFuture<Void> finished = new CompletableFuture<>();
    try (TestNode first = TestNode.started(database, group, 4).handingOver(lease -> finished)) {
      first.awaitOwned(4);
      try (TestNode second = TestNode.started(database, group, 4)) {
        Await.until("asked for two", () -> first.asked.size() == 2);
        assertThat(first.owned()).hasSize(4).allMatch(Lease::isLive);
        assertThat(second.owned()).isEmpty();

        finished.complete(null);
        second.awaitOwned(2);
        assertThat(second.owned()).allMatch(Lease::handedOver);
        assertThat(first.owned()).hasSize(2);
        assertThat(first.asked).allMatch(lease -> !lease.isLive()).hasSize(2);
        assertThat(first.lost).isEmpty();
      }
      first.awaitOwned(4);
    }
  }

  @Test
  void aNodeThatLeavesHandsEverythingOverBeforeCloseReturns() {
    try (TestNode stays = TestNode.started(database, group, 6)) {
      stays.awaitOwned(6);
      TestNode leaves = TestNode.started(database, group, 6);
      leaves.awaitOwned(3);

      leaves.close();

      assertThat(leaves.owned()).isEmpty();
      assertThat(leaves.lost).isEmpty();
      assertThat(members()).isEqualTo(1);
      stays.awaitOwned(6);
      assertThat(stays.owned()).allMatch(Lease::handedOver);
    }
    assertThat(members()).isZero();
  }

  @Test
  void whatANodeDoesNotFinishBeforeItLeavesIsTakenOverAsCutOff() {
    TestNode leaves =
        new TestNode(database, TestNode.config(group, 2).withCloseTimeout(Duration.ZERO))
            .handingOver(lease -> new CompletableFuture<>());
    leaves.shards().start();
    leaves.awaitOwned(2);

    leaves.close();

    Await.until("told", () -> leaves.lost.size() == 2);
    try (TestNode next = TestNode.started(database, group, 2)) {
      next.awaitOwned(2);
      assertThat(next.owned()).noneMatch(Lease::handedOver);
    }
  }

  @Test
  void aHandOverThatFailsIsAskedForAgain() {
    AtomicInteger asked = new AtomicInteger();
    try (TestNode first =
        TestNode.started(database, group, 2)
            .handingOver(
                lease -> {
                  int time = asked.incrementAndGet();
                  if (time == 1) {
                    throw new IllegalStateException("thrown");
                  }
                  return time == 2
                      ? CompletableFuture.failedStage(new IllegalStateException("failed"))
                      : CompletableFuture.completedStage("done");
                })) {
      first.awaitOwned(2);
      try (TestNode second = TestNode.started(database, group, 2)) {
        second.awaitOwned(1);
        assertThat(asked.get()).isGreaterThanOrEqualTo(3);
      }
    }
  }

  @Test
  void aListenerThatBlocksDoesNotStopTheHeart() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    ShardListener blocking =
        new ShardListener() {
          @Override
          public void taken(Lease lease) {
            try {
              release.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }

          @Override
          public CompletableFuture<Void> handOver(Lease lease) {
            return CompletableFuture.completedFuture(null);
          }

          @Override
          public void lost(Lease lease) {}
        };
    try (Shards shards =
        new Shards(new Transactor(database.dataSource()), TestNode.config(group, 1), blocking)) {
      shards.start();
      Await.until("owns it", () -> shards.owned().size() == 1);
      String before = expiry();
      Await.until("another heartbeat", () -> !expiry().equals(before));
      release.countDown();
    }
  }

  /** As after a COMMIT whose answer was lost: with the old epoch all its writes are refused. */
  @Test
  void aShardThatIsTheNodesUnderAnotherEpochIsLostAndTakenAgain() {
    try (TestNode node = TestNode.started(database, group, 2)) {
      node.awaitOwned(2);
      Lease before = node.lease(0);

      database.execute(
          "UPDATE lockstep.shard SET epoch = epoch + 1 WHERE shard = 0 AND shard_group = '%s'"
              .formatted(group));

      Await.until("told of both", () -> !node.lost.isEmpty() && node.taken.size() == 3);
      assertThat(node.lost).containsExactly(before);
      assertThat(before.isLive()).isFalse();
      Lease now = node.lease(0);
      assertThat(now.epoch()).isEqualTo(before.epoch() + 1);
      assertThat(now.handedOver()).as("nobody knows what was under way").isFalse();
    }
  }

  @Test
  void moreNodesThanShardsLeaveSomeWithoutAny() {
    List<TestNode> nodes =
        Stream.generate(() -> TestNode.started(database, group, 2)).limit(3).toList();
    try {
      Await.until("two own one each", () -> shares(nodes).equals(List.of(0, 1, 1)));
    } finally {
      nodes.forEach(TestNode::close);
    }
  }

  @Test
  void theNumberOfShardsNeverChanges() {
    TestNode first = new TestNode(database, TestNode.config(group, 4));
    first.close();

    assertThatThrownBy(() -> new TestNode(database, TestNode.config(group, 8)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("has 4 shards");
  }

  @Test
  void groupsDoNotMeet() {
    try (TestNode one = TestNode.started(database, group, 2);
        TestNode other = TestNode.started(database, group + "-other", 2)) {
      one.awaitOwned(2);
      other.awaitOwned(2);
    }
  }

  @Test
  void configurationIsCheckedWhenItIsMade() {
    ShardsConfig good = ShardsConfig.of("g", "n");
    assertThat(good.withShards(ShardsConfig.MAX_SHARDS).shards()).isEqualTo(1024);
    List<Runnable> bad = new ArrayList<>();
    bad.add(() -> good.withShards(0));
    bad.add(() -> good.withShards(ShardsConfig.MAX_SHARDS + 1));
    bad.add(() -> ShardsConfig.of(" ", "n"));
    bad.add(() -> ShardsConfig.of("g", "\0"));
    bad.add(() -> ShardsConfig.of("g", "n".repeat(ShardsConfig.MAX_NAME_LENGTH + 1)));
    bad.add(() -> good.withLease(Duration.ofSeconds(1), Duration.ofMillis(501)));
    bad.add(() -> good.withLease(Duration.ofSeconds(1), Duration.ZERO));
    bad.add(() -> good.withLease(Duration.ofHours(2), Duration.ofSeconds(1)));
    bad.add(() -> good.withCloseTimeout(Duration.ofMillis(-1)));

    assertThat(bad)
        .allSatisfy(
            attempt ->
                assertThatThrownBy(attempt::run)
                    .isInstanceOfAny(
                        IllegalArgumentException.class, IndexOutOfBoundsException.class));
  }

  private static List<Integer> shares(List<TestNode> nodes) {
    return nodes.stream().map(node -> node.owned().size()).sorted().toList();
  }

  private long members() {
    return database.queryLong(
        "SELECT count(*) FROM lockstep.shard_member WHERE shard_group = ?", group);
  }

  private String expiry() {
    return database
        .query(
            "SELECT expires_at::text FROM lockstep.shard_member WHERE shard_group = ?",
            row -> row.getString(1),
            group)
        .toString();
  }

  @Test
  void aListenerThatFailsIsToldAgainAndTheOthersDoNotWaitForIt() {
    AtomicInteger failures = new AtomicInteger();
    Set<Integer> takenUp = ConcurrentHashMap.newKeySet();
    ShardListener failing =
        new ShardListener() {
          @Override
          public void taken(Lease lease) {
            if (lease.shard() == 0 && failures.incrementAndGet() < 4) {
              throw new AssertionError("not yet");
            }
            takenUp.add(lease.shard());
          }

          @Override
          public CompletionStage<?> handOver(Lease lease) {
            throw new AssertionError("once more");
          }

          @Override
          public void lost(Lease lease) {
            throw new AssertionError("and again");
          }
        };
    ShardsConfig config = TestNode.config("failing", 4).withCloseTimeout(Duration.ofMillis(50));
    try (Shards shards = new Shards(new Transactor(database.dataSource()), config, failing)) {
      shards.start();

      Await.until("three", () -> takenUp.containsAll(Set.of(1, 2, 3)));
      Await.until("all", () -> takenUp.size() == 4);

      assertThat(failures).hasValue(4);
      Await.until("it is well", () -> shards.trouble().isEmpty());
    }
  }
}
