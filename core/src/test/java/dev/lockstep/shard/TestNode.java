package dev.lockstep.shard;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;

/** A node that records what it is told. */
final class TestNode implements ShardListener, AutoCloseable {
  /** Never passes during a test; where a lease has to pass, {@link #age} makes it. */
  static final Duration LONG = Duration.ofMinutes(10);

  static final Duration OFTEN = Duration.ofMillis(20);

  final Queue<Lease> taken = new ConcurrentLinkedQueue<>();
  final Queue<Lease> asked = new ConcurrentLinkedQueue<>();
  final Queue<Lease> lost = new ConcurrentLinkedQueue<>();
  private final Shards shards;
  private volatile Function<Lease, CompletionStage<?>> handOver =
      lease -> CompletableFuture.completedStage("at once");

  TestNode(TestDatabase database, ShardsConfig config) {
    shards = new Shards(new Transactor(database.dataSource()), config, this);
  }

  static ShardsConfig config(String group, int shards) {
    return ShardsConfig.of(group, "node")
        .withShards(shards)
        .withLease(LONG, OFTEN)
        .withCloseTimeout(Duration.ofSeconds(30));
  }

  static TestNode started(TestDatabase database, String group, int shards) {
    TestNode node = new TestNode(database, config(group, shards));
    node.shards.start();
    return node;
  }

  TestNode handingOver(Function<Lease, CompletionStage<?>> how) {
    handOver = how;
    return this;
  }

  Shards shards() {
    return shards;
  }

  List<Lease> owned() {
    return shards.owned();
  }

  Lease lease(int shard) {
    return owned().stream().filter(lease -> lease.shard() == shard).findFirst().orElseThrow();
  }

  void awaitOwned(int count) {
    Await.until("owns " + count, () -> owned().size() == count);
  }

  /** Lets the leases of all members that there are at this moment pass on the database's clock. */
  static void age(TestDatabase database, String group) {
    database.execute(
        "UPDATE lockstep.shard_member SET expires_at = now() WHERE shard_group = '%s'"
            .formatted(group));
  }

  @Override
  public void taken(Lease lease) {
    taken.add(lease);
  }

  @Override
  public CompletionStage<?> handOver(Lease lease) {
    asked.add(lease);
    return handOver.apply(lease);
  }

  @Override
  public void lost(Lease lease) {
    lost.add(lease);
  }

  @Override
  public void close() {
    shards.close();
  }
}
